#!/bin/sh
# What longhaul-announce runs at a site with BIRD. Put in your address, and where the socket of BIRD is.
ADDRESS=192.0.2.1/32
SOCKET=/run/bird/bird.ctl

route() {
  birdc -s "$SOCKET" "$1" longhaul
}
case "$1" in
  announce) ip address replace "$ADDRESS" dev lo && route enable ;;
  withdraw) route disable ;;
  leave)
    ip address delete "$ADDRESS" dev lo 2>/dev/null
    route disable
    ;;
esac >/dev/null
