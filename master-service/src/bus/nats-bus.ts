import { randomBytes } from 'node:crypto';
import { ok, type Result, refuse } from '@longhaul/shared';
import type { Msg } from '@nats-io/transport-node';
import { LastingNatsConnection, type NatsAccess, type NatsTls, type NatsWatcher } from './nats-connection.ts';
import { type BusStatus, MOST_TEXT_BYTES, type StateBus } from './state-bus.ts';

/** All subjects begin with it, then comes the name of the site that alone may publish there. */
const PREFIX = 'longhaul';
/** How the name of a site looks: one part of a subject. */
const SITE = /^[A-Za-z0-9_-]{1,64}$/;
/** Who is asked answers within this time, and each further part comes within it. */
const PART_MS = 2_000;
/** An answer that takes longer has an end that never comes. */
const ANSWER_MS = 60_000;
/** Answers given at once: others ask again. */
const MOST_ANSWERS = 8;
/** Bytes of what names a question. */
const QUESTION_ID_BYTES = 9;
/** What stands in place of a number behind the last part of an answer. */
const END = 'end';

interface Question {
  readonly take: (part: string, from: string) => void;
  readonly finish: (isComplete: boolean) => void;
  /** Who answers; nobody yet where it is left out. */
  from?: string;
  parts: number;
  patience: NodeJS.Timeout;
}

interface NatsBusInit extends NatsWatcher {
  /** The name of this master's site. */
  readonly site: string;
  readonly access: NatsAccess;
}

/**
 * The bus of masters at several sites: publish and subscribe of NATS, nothing of it kept anywhere. A site
 * publishes below `longhaul.<site>` only, so its name in a subject is true wherever the server minds it:
 *
 * - `longhaul.<site>.told`: to all others;
 * - `longhaul.<site>.ask.<id>`: to one of the others, whichever;
 * - `longhaul.<site>.answer.<asker>.<id>.<number>`: parts from 0 on; `end` in place of a number has how many
 *   there were.
 */
export class NatsBus implements StateBus {
  readonly name: string;
  readonly #connection: LastingNatsConnection;
  readonly #onFailed: NatsWatcher['onFailed'];
  readonly #questions = new Map<string, Question>();
  #onReached: () => void = () => {};
  #answers = 0;
  #isClosed = false;

  constructor({ site, access, onConnected, onFailed }: NatsBusInit) {
    this.name = site;
    this.#onFailed = onFailed;
    this.#connection = new LastingNatsConnection({
      name: `longhaul-master ${site}`,
      access,
      onFailed,
      onConnected: (server) => {
        onConnected(server);
        this.#onReached();
      },
    });
    this.#connection.subscribe(`${PREFIX}.*.answer.${site}.>`, (message) => this.#hearAnswer(message));
  }

  /** Connects, and stays connected until `close`. */
  start(): void {
    this.#connection.start();
  }

  publish(text: string): void {
    if (!this.#isClosed) this.#connection.publish(`${PREFIX}.${this.name}.told`, text);
  }

  subscribe(take: (text: string, from: string) => void): void {
    this.#connection.subscribe(`${PREFIX}.*.told`, (message) => {
      const heard = this.#read(message);
      if (heard) take(heard.text, heard.from);
    });
  }

  request(text: string, take: (part: string, from: string) => void): Promise<Result<void>> {
    const id = randomBytes(QUESTION_ID_BYTES).toString('base64url');
    return new Promise((resolve) => {
      const finish = (isComplete: boolean) => {
        const question = this.#questions.get(id);
        if (!question) return;
        clearTimeout(question.patience);
        clearTimeout(limit);
        this.#questions.delete(id);
        resolve(isComplete ? ok(undefined) : refuse('bus-no-answer'));
      };
      const limit = setTimeout(finish, ANSWER_MS, false).unref();
      const giveUp = (): void => {
        // A process that stood still runs its timers first. What has come meanwhile is read before the loop comes here.
        const before = this.#questions.get(id)?.parts;
        setImmediate(() => {
          if (this.#questions.get(id)?.parts === before) finish(false);
        });
      };
      this.#questions.set(id, { take, finish, parts: 0, patience: setTimeout(giveUp, PART_MS) });
      // The server itself says there when nobody listens.
      const reply = `${PREFIX}.${this.name}.answer.${this.name}.${id}.0`;
      if (this.#isClosed || !this.#connection.publish(`${PREFIX}.${this.name}.ask.${id}`, text, reply)) {
        finish(false);
      }
    });
  }

  answer(reply: (text: string, from: string) => Iterable<string>): void {
    const take = (message: Msg) => {
      const asked = this.#read(message);
      const id = message.subject.split('.').at(-1);
      if (asked && id !== undefined) void this.#answer(reply, asked.text, asked.from, id);
    };
    this.#connection.subscribe(`${PREFIX}.*.ask.*`, take, 'masters');
  }

  onReached(reached: () => void): void {
    this.#onReached = reached;
  }

  status(): BusStatus {
    return { kind: 'nats', isAlone: false, isConnected: this.#connection.isConnected };
  }

  /** Takes other certificates for the next connection. */
  renew(tls: NatsTls): void {
    this.#connection.renew(tls);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#connection.close();
    for (const question of this.#questions.values()) question.finish(false);
  }

  async #answer(
    reply: (text: string, from: string) => Iterable<string>,
    text: string,
    from: string,
    id: string,
  ): Promise<void> {
    if (this.#answers >= MOST_ANSWERS) return this.#onFailed('bus-overfull', `${from} asks too often`);
    this.#answers += 1;
    const subject = `${PREFIX}.${this.name}.answer.${from}.${id}`;
    let parts = 0;
    let isTaken = true;
    let before: Promise<boolean> | undefined;
    for (const part of reply(text, from)) {
      isTaken &&= this.#connection.publish(`${subject}.${parts}`, part);
      // The server has the one before it: a long answer takes hardly more memory than a short one, and the
      // next part is made meanwhile.
      isTaken &&= (await before) ?? true;
      if (!isTaken) break;
      before = this.#connection.flush();
      parts += 1;
    }
    if (isTaken) this.#connection.publish(`${subject}.${END}`, String(parts));
    this.#answers -= 1;
  }

  #hearAnswer(message: Msg): void {
    const [id = '', number] = message.subject.split('.').slice(-2);
    const question = this.#questions.get(id);
    // Of a question that was given up, or of nobody.
    if (!question) return;
    if (message.headers?.code === 503) return question.finish(false);
    const heard = this.#read(message);
    if (!heard || heard.from !== (question.from ?? heard.from)) return;
    question.from = heard.from;
    if (number === END) return question.finish(heard.text === String(question.parts));
    // One that got lost leaves the answer incomplete.
    if (number !== String(question.parts)) return question.finish(false);
    question.parts += 1;
    question.patience.refresh();
    question.take(heard.text, heard.from);
  }

  /** What a message says, and whose it is; `undefined` where no master can have sent it. */
  #read({ subject, data }: Msg): { text: string; from: string } | undefined {
    if (this.#isClosed) return undefined;
    const from = subject.split('.')[1] ?? '';
    const text = data.length <= MOST_TEXT_BYTES && SITE.test(from) ? decode(data) : undefined;
    if (text === undefined) this.#onFailed('bus-malformed', subject.slice(0, 100));
    return text === undefined ? undefined : { text, from };
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
