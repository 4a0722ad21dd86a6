/** Every default of a master's configuration, with its unit and its reason. */
import { GIB, MIB } from '@longhaul/shared';

/**
 * `planner.maxDepots`: Each further depot adds set-up time and a machine that can fail; beyond three the
 * models show no gain.
 */
export const DEFAULT_MAX_DEPOTS = 3;
/**
 * `planner.minimumGain`: A chain must be predicted this many times faster than direct: estimates are no
 * better than about 10 %.
 */
export const DEFAULT_MINIMUM_GAIN = 1.1;
/**
 * `planner.assumedSizeBytes`: Size of a download nobody has measured yet, for lanes and chain; whether one is
 * taken is decided over sizes from this one down to a thousandth.
 */
export const DEFAULT_ASSUMED_SIZE_BYTES = 100_000_000;
/**
 * `planner.maxAlternatives`: For each of the two other depots of a chain of three one without it, and one
 * with another entry depot.
 */
export const DEFAULT_MAX_ALTERNATIVES = 3;
/** `planner.maxLanes`: What a browser opens to one server of its own accord, and some more. */
export const DEFAULT_MAX_LANES = 8;
/** `planner.minLaneBytes`: Blocks must be worth their round trips: this is half a second at 64 Mbit/s. */
export const DEFAULT_MIN_LANE_BYTES = 4 * MIB;
/**
 * `planner.assumptions.windowBytes`: Half of Linux's default `tcp_rmem` maximum of 6 MiB: what one end offers
 * as window without tuning.
 */
export const DEFAULT_WINDOW_BYTES = 3 * MIB;
/** `planner.assumptions.rttMs`: A way nobody knows anything of counts as a connection across an ocean ... */
export const DEFAULT_UNKNOWN_RTT_MS = 100;
/** `planner.assumptions.rateBps`: ... at the rate of a usual line. */
export const DEFAULT_UNKNOWN_RATE_BPS = 100e6;

/**
 * `planner.explore.share`: Of downloads where another chain may turn out faster: what is learned serves the
 * nineteen others.
 */
export const DEFAULT_EXPLORE_SHARE = 0.05;
/**
 * `planner.explore.mostRegret`: Such a download takes so much longer at most by all that is known, so that
 * all together lose less than 2 %.
 */
export const DEFAULT_EXPLORE_REGRET = 0.25;

/**
 * `tickets.startSeconds`: Time from a plan to the first request at the depot: a person who thinks about a
 * save dialogue.
 */
export const DEFAULT_START_SECONDS = 600;
/**
 * `tickets.lifeSeconds`: The longest download that is served without asking the master again: one that waits
 * over a long weekend, too, for Chromium goes on at its depot alone.
 */
export const DEFAULT_LIFE_SECONDS = 604_800;
/** `tickets.budgetFactor`: Resumes, parallel ranges and failovers may carry some bytes more than once. */
export const DEFAULT_BUDGET_FACTOR = 4;
/** `tickets.minimumBudgetBytes`: A size that was given too small must not break an honest download. */
export const DEFAULT_MINIMUM_BUDGET_BYTES = GIB;
/**
 * `tickets.unknownSizeBudgetBytes`: A download of unknown size may be a disk image or a data set. Where
 * budgets are not charged it is the least also for a size that is remembered, or that a request says: the
 * file may have grown.
 */
export const DEFAULT_UNKNOWN_SIZE_BUDGET_BYTES = 64 * GIB;
/**
 * `tickets.budgetConnections`: Those that have brought a block do not count. Download managers open 16
 * connections and reopen them often in a day.
 */
export const DEFAULT_BUDGET_CONNECTIONS = 4096;
/**
 * `tickets.tunnelBudgetBytes`: All that a browser has of one site by one ticket: a disk image behind a login,
 * or half an hour at 300 Mbit/s.
 */
export const DEFAULT_TUNNEL_BUDGET_BYTES = 64 * GIB;
/**
 * `tickets.tunnelBudgetConnections`: A page has a hundred pieces; of a server that closes after each of them
 * a browser has 160 pages by one ticket.
 */
export const DEFAULT_TUNNEL_BUDGET_CONNECTIONS = 16_384;

/**
 * `keys.renewSeconds`: A key that nobody knows to be stolen does harm for a month at most. Below a seventh of
 * `tickets.lifeSeconds` and a day it waits for room among those before.
 */
export const DEFAULT_KEY_RENEW_SECONDS = 30 * 86_400;
/**
 * `keys.aheadSeconds`: Twelve times as long as caches keep the set of keys, and far more than a depot or
 * another master may be late.
 */
export const DEFAULT_KEY_AHEAD_SECONDS = 3_600;

/**
 * `limits.connections`: Far above what a master needs, below usual limits of open files; idle, they take
 * about 100 MB.
 */
export const DEFAULT_CONNECTIONS = 10_000;
/**
 * `limits.connectionsPerNetwork`: A tenth of all: a university behind one address, while ten such networks
 * are still no siege.
 */
export const DEFAULT_CONNECTIONS_PER_NETWORK = 1_000;
/**
 * `limits.waitingPerNetwork`: What browsers open ahead of requests, from a busy network; whoever means harm
 * gets no further with it than this.
 */
export const DEFAULT_WAITING_PER_NETWORK = 200;
/**
 * `limits.unusedPerNetwork`: More than may wait, so that all that the browsers of a school open ahead may end
 * at once. Fifty a second come back: whoever sends nothing but hellos takes 4 % of a core.
 */
export const DEFAULT_UNUSED_PER_NETWORK = 500;

/**
 * `timeouts.drainSeconds`: Where routes follow this master's health, it serves on for so long after SIGTERM:
 * routes between networks need some seconds to change.
 */
export const DEFAULT_DRAIN_SECONDS = 15;

/** `depots.heartbeatSeconds`: Planners notice a dead depot after three of these; the same at all masters. */
export const DEFAULT_HEARTBEAT_SECONDS = 5;
