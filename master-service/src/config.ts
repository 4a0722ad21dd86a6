import {
  CONGESTION_CONTROL_NAMES,
  canonicalHost,
  DEPOT_CONGESTION_CONTROL,
  DEPOT_ID,
  isAddressLiteral,
  MAX_ALTERNATIVES,
  MAX_CHAIN_DEPOTS,
  MAX_LANES,
  parseHostPattern,
  USUAL_CONGESTION_CONTROL,
} from '@longhaul/shared';
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
  wholeSeconds,
} from '@longhaul/shared/service';
import * as z from 'zod';
import * as defaults from './config-defaults.ts';

const bytes = (preset: number) => z.int().min(1, 'must be at least 1 byte').default(preset);
const sender = z.enum(CONGESTION_CONTROL_NAMES);
const rttMs = z.number().min(0, 'must be 0 or more milliseconds');
const lossRate = z.number().min(0, 'must be 0 to 1').max(1, 'must be 0 to 1');
const rateBps = z.number().positive('must be more than 0 bits per second');

const hostPatternSchema = z.string().transform((text, context) => {
  const pattern = parseHostPattern(text);
  if (pattern) return pattern;
  context.addIssue('must be a host, for example example.org, *.example.org or example.org:8080');
  return z.NEVER;
});

const prefixesSchema = z.strictObject({
  /** Where this master is, named as its depot: what clients count as of whom nothing else is known. */
  site: z.string().regex(DEPOT_ID, 'must be the name of a site, which its depot has, too').optional(),
  /** Which prefixes and autonomous systems belong to which site. */
  coverageFile: z.string().min(1).optional(),
  /** Which autonomous system announces which prefix: text or MMDB. */
  asTableFile: z.string().min(1).optional(),
});
export type PrefixesConfig = z.output<typeof prefixesSchema>;

const busSchema = z
  .strictObject({
    /** Who this master is to the others: its site, named as its depot. No other master has it. */
    site: z.string().regex(DEPOT_ID, 'must be the name of a site, which its depot has, too'),
    /** NATS servers, best first. */
    servers: z
      .array(
        z
          .string()
          .refine(
            (url) => natsHost(url) !== undefined,
            'must be a NATS URL without credentials, for example nats://127.0.0.1:4222 or tls://nats.example:4222',
          ),
      )
      .min(1, 'must name a server'),
    /** What the servers know this master by. */
    tls: tlsFilesSchema.optional(),
    /** Authorities of the servers' certificates; left out, those of the system. */
    trustedCaFiles: z.array(z.string().min(1)).default([]),
  })
  .refine((bus) => bus.tls !== undefined || bus.servers.every(isPlainHere), {
    path: ['tls'],
    error: 'must be given for tls://, and for servers on other machines',
    when: unlessWrong('tls', 'servers'),
  })
  .refine(
    (bus) =>
      bus.tls === undefined ||
      !bus.servers.some((url) => isAddressLiteral((natsHost(url) ?? '').replaceAll(/[[\]]/g, ''))),
    {
      path: ['servers'],
      // The client compares certificates with names only.
      error: 'must be names where there are certificates, not addresses',
      when: unlessWrong('tls', 'servers'),
    },
  );

/** One of a list that is compared with the others, also where it has mistakes of its own. */
type MaybeWrong<One extends object> = Partial<One> | null | undefined;

const linkSchema = z.strictObject({
  between: z
    .tuple([z.string(), z.string()])
    .refine((ends) => ends.every((end) => DEPOT_ID.test(end)), 'must name depots, client or origin')
    .refine(([one, other]) => one !== other, 'must name two different ends'),
  rttMs,
  lossRate: lossRate.default(0),
  rateBps,
  windowBytes: z.int().min(1).optional(),
  /** Never overridden by what depots report. */
  fixed: z.boolean().default(false),
});
export type LinkConfig = z.output<typeof linkSchema>;

const linksSchema = z
  .array(linkSchema)
  .default([])
  .superRefine(
    (links: readonly MaybeWrong<LinkConfig>[], context) => {
      // A link that is wrong itself is twice nothing.
      const pairs = links.map((link, index) =>
        Array.isArray(link?.between) ? link.between.toSorted().join(' - ') : index,
      );
      for (const [index, pair] of pairs.entries()) {
        if (pairs.indexOf(pair) < index) {
          context.addIssue({ code: 'custom', path: [index, 'between'], message: `${pair} is given twice` });
        }
      }
    },
    { when: ({ value }) => Array.isArray(value) },
  );

const assumptionsSchema = z.strictObject({
  windowBytes: bytes(defaults.DEFAULT_WINDOW_BYTES),
  originSender: sender.default(USUAL_CONGESTION_CONTROL),
  depotSender: sender.default(DEPOT_CONGESTION_CONTROL),
  rttMs: rttMs.default(defaults.DEFAULT_UNKNOWN_RTT_MS),
  lossRate: lossRate.default(0),
  rateBps: rateBps.default(defaults.DEFAULT_UNKNOWN_RATE_BPS),
});

const plannerSchema = z.strictObject({
  maxDepots: z.int().min(0).max(MAX_CHAIN_DEPOTS).default(defaults.DEFAULT_MAX_DEPOTS),
  minimumGain: z.number().min(1, 'must be 1 or more').default(defaults.DEFAULT_MINIMUM_GAIN),
  assumedSizeBytes: bytes(defaults.DEFAULT_ASSUMED_SIZE_BYTES),
  maxAlternatives: z.int().min(0).max(MAX_ALTERNATIVES).default(defaults.DEFAULT_MAX_ALTERNATIVES),
  /** Connections to one origin for one download, at most. */
  maxLanes: z.int().min(1).max(MAX_LANES).default(defaults.DEFAULT_MAX_LANES),
  /** Smaller downloads get one lane. */
  minLaneBytes: bytes(defaults.DEFAULT_MIN_LANE_BYTES),
  /** Whether clients may choose the chain by `via=` and the lanes by `lanes=`. */
  allowVia: z.boolean().default(false),
  /**
   * Which share of downloads may take a chain that may turn out faster, and by which share it may be slower;
   * share 0 turns that off.
   */
  explore: z
    .strictObject({
      share: z
        .number()
        .min(0, 'must be 0 to 0.2')
        .max(0.2, 'must be 0 to 0.2')
        .default(defaults.DEFAULT_EXPLORE_SHARE),
      mostRegret: z
        .number()
        .min(0, 'must be 0 to 1')
        .max(1, 'must be 0 to 1')
        .default(defaults.DEFAULT_EXPLORE_REGRET),
    })
    .prefault({}),
  /** Whether what downloads took over chains decides among them, beside what is known of their legs. */
  learnWays: z.boolean().default(true),
  /** What counts for links of which nothing else is known. */
  assumptions: assumptionsSchema.prefault({}),
});
export type PlannerConfig = z.output<typeof plannerSchema>;

const entryGroupsSchema = z
  .array(
    z.strictObject({
      id: z.string().regex(DEPOT_ID, 'must be 1 to 10 of the characters a-z, 0-9 and -'),
      /** The name whose addresses are those of the group's depots. */
      host: z.string().transform((text, context) => {
        const host = canonicalHost(text);
        if (host.ok && !isAddressLiteral(host.value)) return host.value;
        context.addIssue('must be a host name');
        return z.NEVER;
      }),
      port: portSchema.default(443),
      tls: z.boolean().default(true),
      depots: z.array(z.string().regex(DEPOT_ID)).min(1),
    }),
  )
  .default([])
  .superRefine(
    (groups: readonly MaybeWrong<{ readonly id: string; readonly depots: readonly string[] }>[], context) => {
      const ids = groups.flatMap((group) => group?.id ?? []);
      const depots = groups.flatMap((group) => group?.depots ?? []);
      const twice = [ids, depots].flatMap((list) => list.filter((id, index) => list.indexOf(id) < index));
      for (const id of twice) context.addIssue({ code: 'custom', message: `${id} is given twice` });
    },
    { when: ({ value }) => Array.isArray(value) },
  );
export type EntryGroupConfig = z.output<typeof entryGroupsSchema>[number];

const ticketsSchema = z
  .strictObject({
    startSeconds: wholeSeconds(defaults.DEFAULT_START_SECONDS),
    lifeSeconds: wholeSeconds(defaults.DEFAULT_LIFE_SECONDS),
    budgetFactor: z.number().min(1, 'must be 1 or more').default(defaults.DEFAULT_BUDGET_FACTOR),
    minimumBudgetBytes: bytes(defaults.DEFAULT_MINIMUM_BUDGET_BYTES),
    unknownSizeBudgetBytes: bytes(defaults.DEFAULT_UNKNOWN_SIZE_BUDGET_BYTES),
    budgetConnections: z.int().min(1).default(defaults.DEFAULT_BUDGET_CONNECTIONS),
    tunnelBudgetBytes: bytes(defaults.DEFAULT_TUNNEL_BUDGET_BYTES),
    tunnelBudgetConnections: z.int().min(1).default(defaults.DEFAULT_TUNNEL_BUDGET_CONNECTIONS),
  })
  .refine((tickets) => tickets.lifeSeconds >= tickets.startSeconds, {
    path: ['lifeSeconds'],
    error: 'must not be shorter than startSeconds',
    when: unlessWrong('lifeSeconds', 'startSeconds'),
  });
export type TicketsConfig = z.output<typeof ticketsSchema>;

const capsSchema = z.strictObject({
  plansPerMinute: z.int().min(1, 'must be 1 or more'),
  bytesPerHour: z.int().min(1, 'must be 1 or more'),
});
export type PublicCaps = z.output<typeof capsSchema>;

interface WhoIsServed {
  readonly origins?: readonly unknown[];
  readonly clients?: readonly unknown[];
  readonly public?: unknown;
}

const masterConfigSchema = z
  .strictObject({
    listen: listenSchema,
    tls: tlsFilesSchema.optional(),
    /**
     * Authorities of depots' certificates beside the usual ones: who tells depots which client comes speaks
     * to nobody else.
     */
    trustedCaFiles: z.array(z.string().min(1)).default([]),
    /** What clients and depots see; where it is left out, the listening address. */
    publicUrl: baseUrlSchema.optional(),
    stateDir: z.string().min(1),
    /** Origins that everyone may download from. */
    origins: z.array(hostPatternSchema).default([]),
    /** Clients that may download from everywhere. */
    clients: networksSchema.default([]),
    /** Everyone from everywhere, with caps for each client; its /24 or /48 has sixteen times as much. */
    public: z
      .union([z.literal(false), capsSchema], 'must be false, or plansPerMinute and bytesPerHour')
      .default(false),
    addresses: addressPolicySchema.prefault({}),
    /** Static names of depots, asked before DNS. */
    names: namesSchema.default({}),
    planner: plannerSchema.prefault({}),
    tickets: ticketsSchema.prefault({}),
    depots: z
      .strictObject({
        heartbeatSeconds: seconds(defaults.DEFAULT_HEARTBEAT_SECONDS),
        /**
         * Who may register: who has the enrolment secret, beside those that have joined with a token; or
         * these alone.
         */
        enrolment: z.enum(['secret', 'tokens']).default('secret'),
      })
      .prefault({}),
    /** When the key that signs tickets is replaced, and for how long the next one is published before. */
    keys: z
      .strictObject({
        renewSeconds: z
          .number()
          .positive('must be more than 0 seconds')
          .default(defaults.DEFAULT_KEY_RENEW_SECONDS),
        aheadSeconds: seconds(defaults.DEFAULT_KEY_AHEAD_SECONDS),
      })
      .prefault({}),
    timeouts: z.strictObject({ drainSeconds: seconds(defaults.DEFAULT_DRAIN_SECONDS) }).prefault({}),
    /**
     * Connections to this master at once: over all, of one client network (/24 or /48), and of these without
     * a request; and how many of a network may end without one.
     */
    limits: z
      .strictObject({
        connections: z.int().min(1).default(defaults.DEFAULT_CONNECTIONS),
        connectionsPerNetwork: z.int().min(1).default(defaults.DEFAULT_CONNECTIONS_PER_NETWORK),
        waitingPerNetwork: z.int().min(1).default(defaults.DEFAULT_WAITING_PER_NETWORK),
        unusedPerNetwork: z.int().min(1).default(defaults.DEFAULT_UNUSED_PER_NETWORK),
      })
      .prefault({}),
    links: linksSchema,
    /** Depots that clients reach by one name, whichever of them answers. */
    entryGroups: entryGroupsSchema,
    /** Who is where. */
    prefixes: prefixesSchema.prefault({}),
    /** What other masters are met on; left out, this one is alone. */
    bus: busSchema.optional(),
    metricsNetworks: networksSchema.default([...DEFAULT_METRICS_NETWORKS]),
    metricsHosts: metricsHostsSchema,
    /** A sentence for the page, for example that the links are imaginary. */
    note: z.string().max(500).optional(),
  })
  .refine(servesSomebody, {
    path: ['origins'],
    error: 'give origins, clients or public: without one of them nobody is served',
    // Also when other keys are wrong, so that all mistakes are listed at once.
    when: () => true,
  })
  .refine(({ bus, prefixes }) => !bus || (prefixes.site ?? bus.site) === bus.site, {
    path: ['bus', 'site'],
    error: 'must be that of prefixes.site, where both are given',
    when: unlessWrong('bus', 'prefixes'),
  });

export type MasterConfig = z.output<typeof masterConfigSchema>;

/** Checks a master's configuration; throws `config-invalid` that lists every mistake with its key. */
export function readMasterConfig(input: unknown): MasterConfig {
  return checkConfig(masterConfigSchema, input);
}

// A list that is wrong in itself is a mistake of its own and counts as given.
function servesSomebody(config: WhoIsServed | undefined): boolean {
  if (typeof config !== 'object' || config === null) return true;
  const given = (list: unknown) => list !== undefined && !(Array.isArray(list) && list.length === 0);
  return given(config.origins) || given(config.clients) || (config.public ?? false) !== false;
}

/** The host of a NATS URL; `undefined` for what is none, or holds credentials. */
function natsHost(text: string): string | undefined {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  const isNats = url !== undefined && /^(nats|tls):$/.test(url.protocol) && /^\/?$/.test(url.pathname);
  return isNats && !`${url.username}${url.password}${url.search}${url.hash}` && url.hostname
    ? url.hostname
    : undefined;
}

/** Whether a server is on this machine, so that nobody else can listen in, and TLS is not asked for. */
function isPlainHere(url: string): boolean {
  return url.startsWith('nats:') && /^(localhost|127\.[\d.]+|\[::1\])$/.test(natsHost(url) ?? '');
}
