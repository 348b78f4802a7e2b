"""A module that needs a package that is not there."""

import a_package_that_is_missing  # noqa: F401
