"""Tests: unit, integration, simulation, kills, terminal app, oracle, benchmarks."""
