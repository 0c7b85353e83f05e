echo "slow response from the warehouse: 4.1 s" >&2
echo "retrying on the second replica" >&2
