import { median } from '../results/statistics.ts';
import { byScenario, type Cell } from './cells.ts';
import { chosenChains, throughChain } from './chosen-chains.ts';
import { compareCells, fastest, isRival, withAsManyConnections } from './compare.ts';
import { againstBaselines } from './lane-findings.ts';
import { escapeMarkdown, inlineCode } from './markdown-table.ts';
import { mbps, ratio, ratioRange } from './numbers.ts';

/** For each scenario, what the transfers show, also where Longhaul loses. */
export function matrixFindings(cells: readonly Cell[]): string[] {
  return byScenario(cells).map(([scenario, ...own]) => {
    const sentences = [againstDirect(own), againstBaselines(own), againstRivals(own), ofAuto(own)].filter(
      (sentence) => sentence !== '',
    );
    return `**${escapeMarkdown(scenario.label)}**: ${sentences.join(' ')}`;
  });
}

/** The best chain against one plain connection. */
export function againstDirect(cells: readonly Cell[]): string {
  const chains = cells
    .filter(({ variant }) => variant.isLonghaul)
    .flatMap((cell) => throughChain(cell) ?? []);
  const ours = fastest(chains);
  const direct = cells.find(({ variant }) => variant.id === 'direct');
  if (!ours || !direct) return fastestOnly(cells);
  const compared = compareCells(ours, direct);
  const name = inlineCode(ours.variant.id);
  const said = `${mbps(median(ours.goodputsBps))} Mbit/s (median)`;
  if (!compared) return `${name} carries ${said}, \`direct\` nothing.`;
  const times = `${ratio(compared.ratio.value)} times \`direct\``;
  const range = ratioRange(compared.ratio);
  switch (compared.verdict) {
    case 'faster':
      return `${name} carries ${said}, ${times} ${range}${ofBound(ours)}.`;
    case 'slower':
      return `a chain does not pay here: the best, ${name}, carries ${said}, only ${times} ${range}.`;
    case 'unclear':
      return `a chain does not pay here, as far as can be told: the best, ${name}, carries ${said}, ${times}, and the interval ${range} holds 1.`;
    case 'untold':
      return `${name} carries ${said}, ${times}; too few transfers to say more.`;
  }
}

function fastestOnly(cells: readonly Cell[]): string {
  const best = fastest(cells);
  return best
    ? `${inlineCode(best.variant.id)} carries ${mbps(median(best.goodputsBps))} Mbit/s (median).`
    : '';
}

function ofBound({ scenario, goodputsBps }: Cell): string {
  if (scenario.boundBps === undefined) return '';
  return ` and ${((median(goodputsBps) / scenario.boundBps) * 100).toFixed(0)} % of the bound`;
}

/** The best of ours, whatever way it took, against the best of the others: of all, and of those with one connection. */
function againstRivals(cells: readonly Cell[]): string {
  const ours = fastest(cells.filter(({ variant }) => variant.isLonghaul));
  const rival = fastest(cells.filter(isRival));
  const alike = ours && fastest(withAsManyConnections(ours, cells.filter(isRival)));
  const sentences = [
    ours && rival ? againstRival(ours, rival, 'The best rival') : '',
    ours && alike && alike !== rival
      ? againstRival(ours, alike, 'The best rival with one client connection')
      : '',
  ];
  return sentences.filter(Boolean).join(' ');
}

function againstRival(ours: Cell, rival: Cell, name: string): string {
  const compared = compareCells(ours, rival);
  if (!compared) return '';
  const told = `${inlineCode(rival.variant.id)}, with ${mbps(median(rival.goodputsBps))} Mbit/s`;
  const times = `${ratio(compared.ratio.value)} times as fast ${ratioRange(compared.ratio)}`;
  switch (compared.verdict) {
    case 'faster':
      return `Against ${name.toLowerCase()}, ${told}, ${inlineCode(ours.variant.id)} is ${times}.`;
    case 'slower':
      return `${name} wins: ${told}; ${inlineCode(ours.variant.id)} is ${times}.`;
    case 'unclear':
      return `${name} is as good as far as can be told: ${told}; ${inlineCode(ours.variant.id)} is ${times}.`;
    case 'untold':
      return `${name} is ${told}.`;
  }
}

/** What the planner chose, and how near it came to the best that was chosen by hand. */
function ofAuto(cells: readonly Cell[]): string {
  const auto = cells.find(({ variant }) => variant.id === 'auto');
  if (!auto) return '';
  const byHand = fastest(
    cells.filter(
      ({ variant }) => variant !== auto.variant && (variant.isLonghaul || variant.id === 'direct'),
    ),
  );
  const chose = chosenChains(auto);
  const compared = byHand && compareCells(auto, byHand);
  if (!compared) return chose ? `\`auto\` ${chose}.` : '';
  const reached = `reaches ${(compared.ratio.value * 100).toFixed(0)} % of the best way chosen by hand, ${inlineCode(byHand.variant.id)}`;
  return `\`auto\` ${chose ? `${chose} and ` : ''}${reached}.`;
}
