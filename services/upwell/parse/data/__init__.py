"""Data: tables, trees and settings."""
