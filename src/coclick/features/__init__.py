"""Feature views: queries and documents as sparse rows."""
