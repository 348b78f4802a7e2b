#pragma once

namespace troupe {

class metrics_registry;

/// What /readyz says: whether every service of this process that should have replicas has one that
/// is ready. A process without services is ready for them. By the metrics that services export.
bool services_are_up(const metrics_registry& metrics);

}  // namespace troupe
