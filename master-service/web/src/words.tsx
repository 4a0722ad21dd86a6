/** The page's own words, explained where they are used and once more in a list below. */
const WORDS = {
  origin: ['Origin', 'The web server that has the file.'],
  depot: ['Depot', 'A relay that passes downloads on. A good one lies near you, or near the origin.'],
  chain: [
    'Chain',
    'The depots of one download, in order. Each connection in it is short, so it starts fast and repairs losses fast.',
  ],
  direct: ['Direct', 'One connection from you to the origin, as without Longhaul.'],
  leg: [
    'Leg',
    'One connection of a chain: from you to the first depot, from depot to depot, from the last depot to the origin. The slowest leg decides.',
  ],
  lane: [
    'Lane',
    'One of several connections side by side that the depots have to the origin for one download. More lanes help where losses or windows slow each one.',
  ],
  'round-trip': [
    'Round trip',
    'The time from one end of a leg to the other and back. The longer it is, the slower a connection starts and repairs losses.',
  ],
  line: ['Limited by the line', 'The leg carries all that its narrowest place lets through.'],
  window: [
    'Limited by the window',
    'One end takes in only so much before it confirms: over a long round trip that is less than the line could carry.',
  ],
  loss: ['Limited by losses', 'Packets get lost, and the sender slows down after each loss.'],
  measured: ['Measured', 'Depots have measured it with their own connections.'],
  'typed-in': [
    'Typed in',
    'The operator of this master wrote the figure into its configuration. Nobody has measured it.',
  ],
  'worked-out': ['Worked out', 'The figure is put together from those of other links.'],
  assumed: ['Assumed', 'Nothing is known; a usual figure stands in.'],
} as const;

export type Word = keyof typeof WORDS;

interface TermProps {
  readonly word: Word;
  readonly children: string;
}

/** A word of the page that says what it means: under the mouse, and by a click or Enter in the list. */
export function Term({ word, children }: TermProps) {
  return (
    <a
      class="term"
      href={`#word-${word}`}
      title={WORDS[word][1]}
      onClick={(event) => {
        event.preventDefault();
        showWord(word);
      }}
    >
      {children}
    </a>
  );
}

/** Not by the fragment: that would be a step of its own for the browser's back button. */
function showWord(word: Word): void {
  const entry = document.getElementById(`word-${word}`);
  const list = entry?.closest('details');
  if (!entry || !list) return;
  list.open = true;
  entry.focus();
  entry.scrollIntoView({ block: 'center' });
}

/** The list of all words. */
export function WordList() {
  return (
    <details class="words">
      <summary>What do these words mean?</summary>
      <dl>
        {Object.entries(WORDS).map(([word, [name, meaning]]) => (
          <div key={word}>
            <dt id={`word-${word}`} tabIndex={-1}>
              {name}
            </dt>
            <dd>{meaning}</dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
