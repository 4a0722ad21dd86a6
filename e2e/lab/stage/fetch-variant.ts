import {
  decodeTicket,
  formatGetPath,
  type GetOptions,
  parseOriginUrl,
  parseRelayTarget,
} from '@longhaul/shared';
import { rivalOf, type Scenario, type Variant } from '../experiment.ts';
import { originBytes } from '../hosts/origin-content.ts';
import { aria2Transfer } from '../transfers/aria2-transfer.ts';
import { curlTransfer } from '../transfers/curl-transfer.ts';
import { rangesTransfer } from '../transfers/ranges-transfer.ts';
import {
  LONGEST_TRANSFER_SECONDS,
  type Transfer,
  type TransferOutcome,
  type TransferRequest,
} from '../transfers/transfer.ts';
import type { Stage } from './stage.ts';

/** A name for the file that no transfer has had before, so that no plan and no ticket is used twice. */
let filesFetched = 0;

/** Fetches what was asked for in the way of a variant. */
export function fetchVariant(variant: Variant, request: TransferRequest): Promise<TransferOutcome> {
  return transferOf(variant)(request);
}

/**
 * What a client needs to fetch a scenario's file in one of its ways; without a cut it has {@link
 * LONGEST_TRANSFER_SECONDS}.
 */
export function requestOf(
  stage: Stage,
  scenario: Scenario,
  variant: Variant,
  cutSeconds: number | null,
): TransferRequest {
  filesFetched += 1;
  const path = `/${scenario.sizeBytes}/${filesFetched}.bin`;
  return {
    network: stage.network,
    site: scenario.client,
    url: urlOf(stage, variant, path, scenario.sizeBytes),
    expected: originBytes(scenario.sizeBytes),
    cutSeconds: cutSeconds ?? LONGEST_TRANSFER_SECONDS,
    ...(stage.caFile ? { caFile: stage.caFile } : {}),
  };
}

function transferOf(variant: Variant): Transfer {
  if (variant.kind === 'ranges') return rangesTransfer(variant.connections);
  if (variant.kind === 'aria2') return aria2Transfer(variant.connections);
  return curlTransfer;
}

function urlOf(stage: Stage, variant: Variant, path: string, sizeBytes: number): string {
  switch (variant.kind) {
    case 'direct':
      return stage.originUrl + path;
    case 'ranges':
    case 'aria2':
    case 'relays':
      return (rivalOf(variant) ? stage.relayUrl(variant) : stage.originUrl) + path;
    case 'chain': {
      const { depots, lanes, laneSetup, signalling } = variant;
      // The master is told the depots in the order in which the bytes pass.
      const options = {
        via: depots.toReversed(),
        ...(lanes === undefined ? {} : { lanes }),
        ...(signalling ? { signalling } : {}),
      };
      return stage.overlay(laneSetup).masterUrl() + getPath(stage, path, options);
    }
    case 'auto': {
      const { lanes, laneSetup, mustGuessSize } = variant;
      const options = {
        ...(mustGuessSize ? {} : { sizeBytes }),
        ...(lanes === undefined ? {} : { lanes }),
      };
      return stage.overlay(laneSetup).masterUrl() + getPath(stage, path, options);
    }
  }
}

function getPath(stage: Stage, path: string, options: GetOptions): string {
  const url = parseOriginUrl(stage.originUrl + path);
  if (!url.ok) throw url.error;
  return formatGetPath(url.value, options);
}

/** The depots behind the URL that gave a file, from the client on: what its ticket says first. */
export function chainOf(finalUrl: string | null): readonly string[] | undefined {
  return finalUrl === null ? undefined : ticketOf(finalUrl).chain;
}

/** What the ticket in a URL says; the chain is empty where there is none. */
export function ticketOf(url: string): {
  readonly jobId?: string;
  readonly chain?: readonly string[];
  readonly lanes?: number;
} {
  const { pathname, search } = new URL(url);
  const request = parseRelayTarget(pathname + search);
  if (!request.ok) return { chain: [] };
  const ticket = decodeTicket(request.value.ticket);
  if (!ticket.ok) return {};
  const { jobId, chains, lanes } = ticket.value.claims;
  return { jobId, lanes, ...(chains[0] ? { chain: chains[0] } : {}) };
}
