"""The facts of a tick as published, and the sentences made of them."""

from collections.abc import Mapping
from datetime import UTC, datetime
from statistics import fmean

from generator.brain.evidence import Side
from generator.brain.facts import MarketFacts
from generator.brain.reading import AssetReading, BrainReading, Range, RegimeReading
from generator.catalog.assets import ASSETS, DEFAULT_ASSET
from generator.catalog.formats import change, share
from generator.catalog.text import market
from generator.catalog.text.labels import DERIVATIVES, FAMILY, LIQUIDITY
from generator.catalog.text.market import AssetFacts, Facts
from generator.catalog.words import DerivativesState, LiquidityContext, MarketStructure, RegimeLabel, Trend
from generator.market.bars import BAR_MS
