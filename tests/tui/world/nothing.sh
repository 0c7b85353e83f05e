echo "no file came in"
exit 3
