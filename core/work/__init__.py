"""Owns what: Work and its legal transitions, the questions that runs ask, and the lines that notify people.

`statuses` is the table of transitions, `actions` the forms and answers, `service` what a person may do.
"""
