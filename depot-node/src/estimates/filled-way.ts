/**
 * Where bytes wait in a queue of their way a round trip takes so many times the shortest one: BBR alone keeps
 * it shorter, which drains what it has put there.
 */
export const QUEUED_TIMES = 1.25;
/**
 * Less than this part of what a way carries says nothing of whether it is full, nor does less than this part
 * of what another connection has take anything from that.
 */
export const LEAST_PART = 0.1;
