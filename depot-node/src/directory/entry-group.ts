import { LonghaulError, type ToldEntryGroup } from '@longhaul/shared';

/** The entry group that a depot is in by its own configuration. */
export interface OwnEntryGroup {
  readonly id: string;
  readonly host: string;
}

/**
 * Why clients who are led to a group by this master would not be served by a depot, for its operator; `undefined`
 * where they would, or the master has put the depot into none, as it may before or after this.
 */
export function whyGroupDiffers(
  own: OwnEntryGroup | undefined,
  tls: boolean,
  told: ToldEntryGroup | undefined,
): LonghaulError | undefined {
  if (!own || !told) return undefined;
  const [here, there] = [describe({ ...own, tls }), describe(told)];
  if (here === there) return undefined;
  return new LonghaulError('entry-group-differs', { detail: `here ${here}, at the master ${there}` });
}

function describe({ id, host, tls }: ToldEntryGroup): string {
  return `${id}, ${host} ${tls ? 'with' : 'without'} TLS`;
}
