"""What cannot be made again is kept: consistent backups of both programs' databases, their proof, and their return."""
