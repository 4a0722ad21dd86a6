/** What `longhaul-announce --help` says. */
export const USAGE = `Usage: longhaul-announce --url <url> --run <program>

Has the address that a master shares with others announced while the master of this machine is well.

Options:
  --url <url>      where the master says how it is, for example https://127.0.0.1/healthz/anycast
  --run <program>  what changes routes; docs/examples/anycast has one for BIRD and one for ExaBGP. It is run with one word:
                     announce  the master has been well for a second
                     withdraw  the master says that it is not, for example because it drains; or it refuses, or is silent
                     leave     nobody has listened for two seconds: the address may leave this machine
                   and with the same word again every five seconds. It ends with 0 when it has done so
  -h, --help       this text
  --version        the version of Longhaul

Signals:
  SIGTERM, SIGINT  withdraws and ends; again: ends at once

Ends with 0 when it was asked to, with 1 when it cannot start, with 2 when the command line is not understood.
`;
