"""Can this judge be trusted? Measured on texts whose answer is known, and on human labels."""

from factcheck.calibration.bullets import BulletRemoval, abullet_removal, bullet_removal
from factcheck.calibration.containment import WordContainment
from factcheck.calibration.texts import BundledText, load_texts

__all__ = [
    "BulletRemoval",
    "BundledText",
    "WordContainment",
    "abullet_removal",
    "bullet_removal",
    "load_texts",
]
