/** What `longhaul-depot --help` says. */
export const USAGE = `Usage: longhaul-depot --config <file>
       longhaul-depot join --config <file> --token-file <file>
       longhaul-depot rotate-key --config <file>
       longhaul-depot doctor [--config <file>] [--mbps <number>] [--rtt-ms <number>]

Runs a depot of Longhaul, a relay that downloads are led through; lets a master know it (join), once, by a token that an operator of a
master has made (longhaul-master create-token); gives it another key (rotate-key); or looks (doctor) at what this machine lacks for one.

Options:
  --config <file>  the depot's configuration, YAML; docs/examples has one, docs/operators.md tells what the keys mean
  --token-file <file>  holds the token; - is the standard input
  -h, --help       this text; after doctor, its own options
  --version        the version of Longhaul

Signals:
  SIGTERM          takes nothing new and lets downloads end, for up to timeouts.drainSeconds; again: ends at once
  SIGINT           ends within a second
  SIGHUP           reads certificates, keys, trusted authorities and the enrolment secret again; the log says what needs a
                   restart

Environment:
  LONGHAUL_RELAY=streams  moves no bytes inside the kernel, but through this process

Ends with 0 when it was asked to, with 1 when it cannot start, with 2 when the command line is not understood.
`;

/** What `longhaul-depot doctor --help` says. */
export const DOCTOR_USAGE = `Usage: longhaul-depot doctor [--config <file>] [--mbps <number>] [--rtt-ms <number>]

Looks at what decides about the speed of a depot on this machine, whether the configuration can be used, and whether the
master would take the depot. It changes nothing. One line for each check: ok, warn (it works, but worse) or fail, what was
looked at, what was found and, behind an arrow, what to change.

Options:
  --config <file>    the depot's configuration; without it the machine is held against the defaults
  --mbps <number>    what one connection shall bring, in Mbit/s (1000) ...
  --rtt-ms <number>  ... over a way with this round-trip time, in milliseconds (100): buffers are held against both
  -h, --help         this text
  --version          the version of Longhaul

Ends with 0, with 1 when a check has failed, with 2 when the command line is not understood.
`;
