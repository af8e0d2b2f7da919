"""What holds for the whole process: settings, memory, threads, and messages to whoever waits."""
