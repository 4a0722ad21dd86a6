import { canonicalHost, DEPOT_ID } from '@longhaul/shared';
import {
  addressPolicySchema,
  baseUrlSchema,
  checkConfig,
  DEFAULT_METRICS_NETWORKS,
  listenSchema,
  metricsHostsSchema,
  namesSchema,
  networksSchema,
  portSchema,
  seconds,
  tlsFilesSchema,
  unlessWrong,
} from '@longhaul/shared/service';
import * as z from 'zod';
import { lanesSchema } from './lanes/lanes-config.ts';
import { resolverSchema } from './names/resolver.ts';
import { legsThatForbidPauses, legTableSchema } from './sockets/leg-options.ts';

/** `limits.transfers`: Transfers and tunnels served at once; each costs descriptors and kernel memory. */
export const DEFAULT_TRANSFERS = 2000;
/** `limits.perJob`: Connections of one download at once: more than the 16 that download managers open. */
const DEFAULT_PER_JOB = 64;
/**
 * `limits.tunnelsPerJob`: Tunnels of one client's ticket at once: the six connections that a browser has to
 * one server over HTTP/1.1, and two that it has not closed yet.
 */
const DEFAULT_TUNNELS_PER_JOB = 8;
/**
 * `limits.perClient`: Transfers of one client address (/64 of IPv6) at once: an office behind one address has
 * some, a neighbour none of them.
 */
const DEFAULT_PER_CLIENT = 250;
/** `limits.perNetwork`: Transfers of one client network (/24 or /48) at once, so that one cannot fill a depot. */
const DEFAULT_PER_NETWORK = 500;
/**
 * `limits.perOrigin`: Half of all transfers: a day on which everybody wants one origin leaves the other half
 * to the rest.
 */
const DEFAULT_PER_ORIGIN = 1000;
/** A line slower than this, or a limit of rate below it, is a mistake of the unit. */
const MIN_LIMIT_BPS = 1_000_000;
/** `limits.connections`: Connections at once; a depot that serves all its transfers needs a few thousand. */
export const DEFAULT_CONNECTIONS = 10_000;
/**
 * `limits.connectionsPerNetwork`: Of them, those of one client network (/24 or /48), or of one address of
 * another depot.
 */
const DEFAULT_CONNECTIONS_PER_NETWORK = 2000;
/**
 * `limits.waitingPerNetwork`: Of these, those that have not brought a request: a busy network's, or the spare
 * ones of a depot.
 */
const DEFAULT_WAITING_PER_NETWORK = 500;
/**
 * `limits.unusedPerNetwork`: As many as may wait can also end at once, such as what the browsers of a school
 * open ahead. Fifty a second come back: whoever sends nothing but hellos takes 4 % of a core.
 */
const DEFAULT_UNUSED_PER_NETWORK = 500;
/** `limits.jobs`: Jobs remembered at once; a job is a few hundred bytes and lives as long as its ticket. */
const DEFAULT_JOBS = 100_000;
/**
 * `limits.spareLegs`: Connections kept ready to each neighbour used lately: two downloads that begin at once
 * find one each.
 */
const DEFAULT_SPARE_LEGS = 2;
/**
 * `limits.preparedWays`: Ways to origins made at once for clients that are being led here: as many as come
 * within a second on a busy day.
 */
export const DEFAULT_PREPARED_WAYS = 64;
/** `measuring.bytesPerHour`: Some 10 tests of links a hour; as much as a line of 100 Mbit/s carries in two seconds. */
const DEFAULT_MEASURING_BYTES_PER_HOUR = 20_000_000;
/** `timeouts.connectSeconds`: Longer than three lost SYNs (1 + 2 s) and their answer on a far path. */
const DEFAULT_CONNECT_SECONDS = 8;
/** `timeouts.answerSeconds`: Slow origins build archives on the fly; more than this and a person has given up. */
const DEFAULT_ANSWER_SECONDS = 60;
/**
 * `timeouts.silenceSeconds`: Silence of a sender whose bytes are wanted, after which it counts as broken, if
 * what is left of them can be asked for again.
 */
const DEFAULT_SILENCE_SECONDS = 60;
/**
 * `failover.silenceSeconds`: The same in the middle of a body, after which its rest is asked for over another
 * way: a person has not noticed yet.
 */
const DEFAULT_FAILOVER_SILENCE_SECONDS = 5;
/**
 * `failover.slowShare`: Of the plan's rate: below a quarter the plan was wrong, above it a break costs more
 * than it brings.
 */
const DEFAULT_SLOW_SHARE = 0.25;
/** `failover.slowSeconds`: Longer than a burst of cross traffic, shorter than anybody's patience. */
const DEFAULT_SLOW_SECONDS = 10;
/**
 * `failover.patienceSeconds`: Three round trips of a far chain: a way that does not stand by then is tried on
 * beside the next one.
 */
const DEFAULT_PATIENCE_SECONDS = 1;
/**
 * `failover.tries`: Tries of one transfer to go on over another way, until 4 MiB have come since the first of
 * them; where nobody answers at all, time alone bounds them.
 */
const DEFAULT_FAILOVER_TRIES = 64;
/** `failover.repairSeconds`: Longest time of one repair; browsers and download managers wait for minutes. */
const DEFAULT_REPAIR_SECONDS = 90;
/**
 * `failover.outageSeconds`: The same while the origin is out of reach over every way, whoever says so: plain
 * TCP outlives minutes without a network, and the client that waits can leave.
 */
const DEFAULT_OUTAGE_SECONDS = 600;
/**
 * `failover.againBytes`: Of a file that is fetched again whole because no part of it can be asked for: at 100
 * Mbit/s six minutes in which the client gets nothing; `wget` waits for fifteen.
 */
const DEFAULT_AGAIN_BYTES = 4_294_967_296;
/**
 * `failover.againTotalBytes`: The same of all breaks of one download together: a client that begins again
 * costs as much each time.
 */
const DEFAULT_AGAIN_TOTAL_BYTES = 17_179_869_184;
/**
 * `failover.againTries`: How often in a row the whole is fetched again and brings nothing new: an origin that
 * breaks off by itself does so each time.
 */
const DEFAULT_AGAIN_TRIES = 4;
/**
 * `timeouts.stallSeconds`: How long a client may leave its download unread, or an origin that gives no parts
 * be silent, before the connection is given up.
 */
const DEFAULT_STALL_SECONDS = 3600;
/** `timeouts.drainSeconds`: Running transfers get this long to finish when the depot is asked to stop. */
const DEFAULT_DRAIN_SECONDS = 30;
/**
 * `master.heartbeatSeconds`: Three missed heartbeats make a depot lost, so a planner notices within about 15 s. Where
 * the master wants to hear of it more often, that counts.
 */
const DEFAULT_HEARTBEAT_SECONDS = 5;
/**
 * `stepwise.waitSeconds`: Longer than a client needs to follow a redirect over a bad path; what waits holds a
 * connection to its origin.
 */
const DEFAULT_WAIT_SECONDS = 30;
/**
 * `stepwise.waiting`: Transfers that wait at once: a quarter of those served, since most wait for less than a
 * second.
 */
const DEFAULT_WAITING = 500;

const limitBps = z
  .int('must be a whole number of bits per second')
  .min(MIN_LIMIT_BPS, `must be at least ${MIN_LIMIT_BPS} bits per second`);

const publicHostSchema = z.string().transform((text, context) => {
  const host = canonicalHost(text);
  if (host.ok) return host.value;
  context.addIssue('must be a host name or an IP address');
  return z.NEVER;
});

const WILDCARDS: readonly string[] = ['::', '0.0.0.0'];

const depotConfigSchema = z
  .strictObject({
    id: z.string().regex(DEPOT_ID, 'must be 1 to 10 of the characters a-z, 0-9 and -'),
    /** The site that it stands at; left out, that of its own name. */
    site: z.string().regex(DEPOT_ID, 'must be 1 to 10 of the characters a-z, 0-9 and -').optional(),
    listen: listenSchema,
    /** What others dial; where it is left out, the listening address. */
    public: z.strictObject({ host: publicHostSchema, port: portSchema.optional() }).optional(),
    tls: tlsFilesSchema.optional(),
    /**
     * The name that this depot answers by together with others, and what it proves to be that name with,
     * beside its own certificate.
     */
    entryGroup: z
      .strictObject({
        id: z.string().regex(DEPOT_ID, 'must be 1 to 10 of the characters a-z, 0-9 and -'),
        host: publicHostSchema,
        tls: tlsFilesSchema.optional(),
      })
      .optional(),
    stateDir: z.string().min(1),
    master: z.strictObject({
      url: baseUrlSchema,
      /** The overlay's secret; left out by a depot that has joined with a token. */
      enrolmentSecretFile: z.string().min(1).optional(),
      heartbeatSeconds: seconds(DEFAULT_HEARTBEAT_SECONDS),
    }),
    /** PEM files of authorities trusted beside the usual ones, for origins, depots and the master. */
    trustedCaFiles: z.array(z.string()).default([]),
    addresses: addressPolicySchema.prefault({}),
    names: namesSchema.default({}),
    resolver: resolverSchema.prefault({}),
    metricsNetworks: networksSchema.default([...DEFAULT_METRICS_NETWORKS]),
    metricsHosts: metricsHostsSchema,
    limits: z
      .strictObject({
        transfers: z.int().min(1).default(DEFAULT_TRANSFERS),
        perJob: z.int().min(1).default(DEFAULT_PER_JOB),
        tunnelsPerJob: z.int().min(1).default(DEFAULT_TUNNELS_PER_JOB),
        perClient: z.int().min(1).default(DEFAULT_PER_CLIENT),
        perNetwork: z.int().min(1).default(DEFAULT_PER_NETWORK),
        perOrigin: z.int().min(1).default(DEFAULT_PER_ORIGIN),
        /** What one client address, or one origin, may have relayed over ten seconds before new requests must wait. */
        clientBps: limitBps.optional(),
        originBps: limitBps.optional(),
        connections: z.int().min(1).default(DEFAULT_CONNECTIONS),
        connectionsPerNetwork: z.int().min(1).default(DEFAULT_CONNECTIONS_PER_NETWORK),
        waitingPerNetwork: z.int().min(1).default(DEFAULT_WAITING_PER_NETWORK),
        unusedPerNetwork: z.int().min(1).default(DEFAULT_UNUSED_PER_NETWORK),
        jobs: z.int().min(1).default(DEFAULT_JOBS),
        spareLegs: z.int().min(0).max(16).default(DEFAULT_SPARE_LEGS),
        preparedWays: z.int().min(0).max(1000).default(DEFAULT_PREPARED_WAYS),
      })
      .prefault({}),
    timeouts: z
      .strictObject({
        connectSeconds: seconds(DEFAULT_CONNECT_SECONDS),
        answerSeconds: seconds(DEFAULT_ANSWER_SECONDS),
        silenceSeconds: seconds(DEFAULT_SILENCE_SECONDS),
        stallSeconds: seconds(DEFAULT_STALL_SECONDS),
        drainSeconds: seconds(DEFAULT_DRAIN_SECONDS),
      })
      .prefault({}),
    /** Signalling from depot to depot, for clients whose tickets ask for it. */
    stepwise: z
      .strictObject({
        /** Of the redirects; browsers keep a 301, and come back with a ticket that is over. */
        redirectStatus: z.literal([301, 302]).default(302),
        waitSeconds: seconds(DEFAULT_WAIT_SECONDS),
        waiting: z.int().min(1).default(DEFAULT_WAITING),
      })
      .prefault({}),
    /** What moves the bytes. */
    relay: z
      .strictObject({
        /** Threads beside the one that serves requests; by default as many as there are cores, at most 8. */
        threads: z.int().min(1).max(64).optional(),
        /** Who ends TLS: these threads, by Node's own OpenSSL and where that has worked with itself, or Node. */
        tls: z.enum(['auto', 'node']).default('auto'),
      })
      .prefault({}),
    /** What all transfers may send towards clients together, in payload bits per second; jobs share it evenly. */
    uplink: z.strictObject({ rateBps: limitBps }).optional(),
    /** When and how long a transfer whose way breaks is carried on over others. */
    failover: z
      .strictObject({
        silenceSeconds: seconds(DEFAULT_FAILOVER_SILENCE_SECONDS),
        slowShare: z.number().min(0).max(1).default(DEFAULT_SLOW_SHARE),
        slowSeconds: seconds(DEFAULT_SLOW_SECONDS),
        patienceSeconds: seconds(DEFAULT_PATIENCE_SECONDS),
        tries: z.int().min(0).max(10_000).default(DEFAULT_FAILOVER_TRIES),
        repairSeconds: seconds(DEFAULT_REPAIR_SECONDS),
        outageSeconds: seconds(DEFAULT_OUTAGE_SECONDS),
        /**
         * Of what a digest of the client's bytes is kept, to go on by the whole: `needed`, where no part can
         * be asked for.
         */
        fetchAgain: z.enum(['never', 'needed', 'always']).default('needed'),
        againBytes: z.int().min(0).default(DEFAULT_AGAIN_BYTES),
        againTotalBytes: z.int().min(0).default(DEFAULT_AGAIN_TOTAL_BYTES),
        againTries: z.int().min(0).max(1000).default(DEFAULT_AGAIN_TRIES),
      })
      .prefault({}),
    /** What links to other depots may be measured with where no transfer measures them; 0: with nothing. */
    measuring: z
      .strictObject({ bytesPerHour: z.int().min(0).default(DEFAULT_MEASURING_BYTES_PER_HOUR) })
      .prefault({}),
    /** Downloads over several connections at once. */
    lanes: lanesSchema.prefault({}),
    /**
     * `stated`: whole files are digested whose origin states a digest; `passing`: those too that pass the
     * event loop anyway, with or without lanes; not what relay threads carry; `always`: all, and none is
     * spliced.
     */
    integrity: z
      .strictObject({ digest: z.enum(['stated', 'passing', 'always']).default('stated') })
      .prefault({}),
    /** Options of TCP sockets, by the neighbour they lead to. */
    sockets: legTableSchema.prefault({}),
  })
  .superRefine(
    (config, context) => {
      for (const legClass of legsThatForbidPauses(config.sockets, config.timeouts.stallSeconds)) {
        context.addIssue({
          code: 'custom',
          path: ['sockets', legClass, 'userTimeoutSeconds'],
          message: 'must be 0 or at least timeouts.stallSeconds, or a paused download breaks',
        });
      }
    },
    { when: unlessWrong('sockets', 'timeouts') },
  )
  .refine((config) => config.tls !== undefined || config.entryGroup?.tls === undefined, {
    path: ['entryGroup', 'tls'],
    error: 'needs tls of the depot itself, too: other depots and the master reach it by its own name',
    when: unlessWrong('tls', 'entryGroup'),
  })
  .refine((config) => config.public !== undefined || !WILDCARDS.includes(config.listen.host), {
    path: ['public'],
    error: 'must say under which host others reach this depot, because it listens on every address',
    when: unlessWrong('public', 'listen'),
  });

export type DepotConfig = z.output<typeof depotConfigSchema>;

/** Checks a depot's configuration; throws `config-invalid` that lists every mistake with its key. */
export function readDepotConfig(input: unknown): DepotConfig {
  return checkConfig(depotConfigSchema, input);
}
