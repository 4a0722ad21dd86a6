import * as z from 'zod';
import { WORLDS } from '../world/start-world.ts';

const lookSchema = z.object({ rssBytes: z.number(), descriptors: z.number(), socketBytes: z.number() });
const shareSchema = z.object({ median: z.number(), p95: z.number(), downloads: z.number() });

/** One strike of one attack in one world, with all that was seen: a line of a result. */
export const attackLineSchema = z.object({
  attack: z.string(),
  world: z.enum(WORLDS),
  seed: z.number(),
  seconds: z.number(),
  /** How often it was repeated, because only times were missed. */
  repeats: z.number(),
  cases: z.number(),
  /** What the attacker saw, by code or word. */
  answers: z.record(z.string(), z.number()),
  attackerCpuSeconds: z.number(),
  /** What the services counted meanwhile, by code: those of the bystander are none. */
  refusals: z.record(z.string(), z.number()),
  /** Times of the bystander's downloads by the median time of such a download while nobody attacks. */
  bystander: shareSchema,
  /** The same of a client in the attacker's own network, who may be refused. */
  neighbour: shareSchema.extend({ refused: z.record(z.string(), z.number()) }),
  /** Before, at most during and after the strike; by service. */
  services: z.record(
    z.string(),
    z.object({
      before: lookSchema,
      peak: lookSchema,
      after: lookSchema,
      /** Memory that it needed, where it said so. */
      heldBytes: z.object({ before: z.number().optional(), after: z.number().optional() }),
      logLines: z.number(),
    }),
  ),
  /** Promises that did not hold, a sentence each. */
  failures: z.array(z.string()),
  /** Promises whose only fault is a time, on a machine whose control missed it as well. */
  notJudged: z.array(z.string()),
});
export type AttackLine = z.infer<typeof attackLineSchema>;
