#!/bin/sh
# What longhaul-announce runs below ExaBGP, which reads what it prints.
ADDRESS=192.0.2.1/32

case "$1" in
  announce)
    ip address replace "$ADDRESS" dev lo >&2
    echo "announce route $ADDRESS next-hop self"
    ;;
  withdraw) echo "withdraw route $ADDRESS next-hop self" ;;
  leave)
    echo "withdraw route $ADDRESS next-hop self"
    ip address delete "$ADDRESS" dev lo 2>/dev/null
    ;;
esac
exit 0
