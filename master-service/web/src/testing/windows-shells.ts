/** What cmd and PowerShell make of a line, by their documented rules: a stand-in where neither can be run. */

/**
 * The arguments that a program gets from a line at the prompt of cmd. Every name without `"` and `^` is taken
 * for a variable that exists: its value is `[name]`. Rules: "How does the Windows Command Interpreter
 * (CMD.EXE) parse scripts?", phases 1 and 2, command line mode.
 * @throws {Error} when the line holds another command, or a redirection.
 */
export function cmdArguments(line: string): string[] {
  return programArguments(unescaped(expanded(line))).slice(1);
}

/**
 * The arguments that a program gets from a line in Windows PowerShell 5, all of them bare words or in single
 * quotes: those with spaces are put into quotes, nothing in them is escaped, and empty ones get lost.
 * @throws {Error} when a quote does not end where its argument does.
 */
export function powershellArguments(line: string): string[] {
  const texts: string[] = [];
  let rest = line;
  while (rest !== '') {
    const word =
      /^(?:['\u2018-\u201b]((?:[^'\u2018-\u201b]|['\u2018-\u201b]{2})*)['\u2018-\u201b]|([A-Za-z0-9./-]+))(?: |$)/.exec(
        rest,
      );
    if (!word) throw new Error(`a quote ends too early or not at all: ${rest}`);
    texts.push(word[1]?.replace(/['\u2018-\u201b]{2}/g, (pair) => pair.slice(1)) ?? word[2] ?? '');
    rest = rest.slice(word[0].length);
  }
  const passed = texts.map((text) => (/\s/.test(text) ? `"${text}"` : text));
  return programArguments(passed.join(' ')).slice(1);
}

function expanded(line: string): string {
  let text = '';
  for (let index = 0; index < line.length; index += 1) {
    const end = line[index] === '%' ? line.indexOf('%', index + 1) : -1;
    const name = end < 0 ? '' : (line.slice(index + 1, end).split(':')[0] ?? '');
    if (end < 0 || name === '' || /["^]/.test(name)) {
      text += line[index];
    } else {
      text += `[${name}]`;
      index = end;
    }
  }
  return text;
}

function unescaped(line: string): string {
  let text = '';
  let quoted = false;
  for (let index = 0; index < line.length; index += 1) {
    const char = line[index] ?? '';
    if (char === '\n') throw new Error('another command');
    if (char === '"') quoted = !quoted;
    if (quoted || !/[&|<>()^]/.test(char)) {
      text += char;
    } else if (char === '^') {
      index += 1;
      text += line[index] ?? '';
    } else {
      throw new Error(`another command, or a redirection: ${line.slice(index)}`);
    }
  }
  return text;
}

/** Microsoft's "Parsing C command-line arguments". */
function programArguments(commandLine: string): string[] {
  const found: string[] = [];
  let text: string | undefined;
  let quoted = false;
  for (let index = 0; index < commandLine.length; ) {
    const slashes = /^\\*/.exec(commandLine.slice(index))?.[0].length ?? 0;
    const char = commandLine[index + slashes];
    if (char === '"' && slashes > 0) {
      text = (text ?? '') + '\\'.repeat(Math.floor(slashes / 2));
      if (slashes % 2 === 1) text += '"';
      index += slashes + (slashes % 2);
    } else if (slashes > 0) {
      text = (text ?? '') + '\\'.repeat(slashes);
      index += slashes;
    } else if (char === '"' && quoted && commandLine[index + 1] === '"') {
      text = `${text ?? ''}"`;
      index += 2;
    } else if (char === '"') {
      quoted = !quoted;
      text ??= '';
      index += 1;
    } else if (!quoted && (char === ' ' || char === '\t')) {
      if (text !== undefined) found.push(text);
      text = undefined;
      index += 1;
    } else {
      text = (text ?? '') + (char ?? '');
      index += 1;
    }
  }
  if (text !== undefined) found.push(text);
  return found;
}
