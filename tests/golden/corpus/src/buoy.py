"""Buoys and their positions."""

import math


class DriftingBuoy:
    """A buoy that lost its mooring."""

    def __init__(self, latitude, longitude):
        self.latitude = latitude
        self.longitude = longitude

    def drift(self, knots, heading, hours):
        """Moves the buoy; one nautical mile is one minute of latitude."""
        miles = knots * hours
        self.latitude += miles * math.cos(math.radians(heading)) / 60
        self.longitude += miles * math.sin(math.radians(heading)) / 60
        return self.latitude, self.longitude


def parse_nmea_sentence(sentence):
    """Splits `$GPGLL,...*hh` into its fields after checking the checksum."""
    body, _, checksum = sentence.lstrip("$").partition("*")
    total = 0
    for character in body:
        total ^= ord(character)
    if total != int(checksum, 16):
        raise ValueError(f"checksum {checksum} does not fit {body!r}")
    return body.split(",")
