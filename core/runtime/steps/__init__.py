"""The five kinds of step, one module each: command, http and python run; ask and wait end the segment."""
