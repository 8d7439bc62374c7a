"""Composers: what turns drawn operators into problems."""
