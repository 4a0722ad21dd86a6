/** What `longhaul-master --help` says. */
export const USAGE = `Usage: longhaul-master --config <file>

Runs a master of Longhaul: it plans downloads, answers them with redirects, and knows the depots.

Options:
  --config <file>  the master's configuration, YAML; docs/examples has one, docs/operators.md tells what the keys mean
  -h, --help       this text
  --version        the version of Longhaul

Signals:
  SIGTERM          ends within a second; where something asks /healthz/anycast or /healthz/ready, answers
                   503 there and serves on for timeouts.drainSeconds before; again: ends at once
  SIGINT           takes nothing new and ends within a second; again: at once
  SIGHUP           reads its certificate, key and files of prefixes again; the log says what needs a restart

Ends with 0 when it was asked to, with 1 when it cannot start, with 2 when the command line is not understood.
`;
