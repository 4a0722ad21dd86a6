/** What `longhaul-master --help` says. */
export const USAGE = `Usage: longhaul-master --config <file>
       longhaul-master create-token --config <file> [--site <id>] [--depot <id>] [--hours <number>]
       longhaul-master list-tokens --config <file>
       longhaul-master revoke-token --config <file> --token <id>
       longhaul-master revoke-depot --config <file> --depot <id>

Runs a master of Longhaul: it plans downloads, answers them with redirects, and knows the depots.

create-token prints a token that one new depot can join with (longhaul-depot join), once. revoke-depot takes a depot's key out of the overlay
for ever, at all masters and depots. These four ask the master that runs on this machine with this configuration.

Options:
  --config <file>  the master's configuration, YAML; docs/examples has one, docs/operators.md tells what the keys mean
  --site <id>      the site whose depot may use the token; left out, the master's own site, or any where it has no name
  --depot <id>     the one depot that may use it, also in place of one with another key; left out, any new one
  --hours <number> how long it can be used (24)
  --token <id>     the token to take back, or its id as list-tokens tells it
  -h, --help       this text
  --version        the version of Longhaul

Signals:
  SIGTERM          ends within a second; where something asks /healthz/anycast or /healthz/ready, answers
                   503 there and serves on for timeouts.drainSeconds before; again: ends at once
  SIGINT           takes nothing new and ends within a second; again: at once
  SIGHUP           reads its certificates, keys, trusted authorities and files of prefixes again; the log says what needs
                   a restart

Ends with 0 when it was asked to, with 1 when it cannot start, with 2 when the command line is not understood.
`;
