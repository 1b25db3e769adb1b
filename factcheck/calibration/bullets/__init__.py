"""Bullet removal: a score must fall with the information that is taken away."""

from factcheck.calibration.bullets.measures import MEASURES, Figure, JudgeMeasures, Path, Point
from factcheck.calibration.bullets.orders import RemovalOrder, removal_orders
from factcheck.calibration.bullets.results import BulletRemoval
from factcheck.calibration.bullets.rows import VariantRow
from factcheck.calibration.bullets.run import abullet_removal, bullet_removal
from factcheck.calibration.bullets.splitting import Bullets, Piece, split_bullets
from factcheck.calibration.bullets.subjects import Subject

__all__ = [
    "MEASURES",
    "BulletRemoval",
    "Bullets",
    "Figure",
    "JudgeMeasures",
    "Path",
    "Piece",
    "Point",
    "RemovalOrder",
    "Subject",
    "VariantRow",
    "abullet_removal",
    "bullet_removal",
    "removal_orders",
    "split_bullets",
]
