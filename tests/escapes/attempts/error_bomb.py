# Writes errors and a report without end, each in small pieces.
while True:
    os.write(2, b"y")
    os.write(3, b"z")
