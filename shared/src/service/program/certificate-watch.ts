import { ERRORS } from '../../errors.ts';
import { certificateIn, isEnding, type Validity, validityOf, whyNotValid } from '../tls/tls-files.ts';
import type { Generation } from './reload.ts';

/** How often certificates are looked at; they end when nothing else happens. */
const LOOK_MS = 60_000;
/** The same is said again after so long. */
const SAY_AGAIN_MS = 86_400_000;

interface Log {
  readonly warn: (fields: object, message: string) => void;
  readonly error: (fields: object, message: string) => void;
}

interface Watched {
  readonly cert: string;
  readonly validity: Validity;
  /** What was said of it last, and when. */
  said?: { readonly code: string; readonly atMs: number };
}

/**
 * Says in the log of each certificate of a service that it is about to expire, or that clients would refuse
 * it now: once, and once a day from then on. With one that is not valid a service starts all the same: its
 * clock may be wrong, and a renewed one can be read while it runs.
 */
export class CertificateWatch {
  readonly #nowMs: () => number;
  readonly #log: Log;
  #watched = new Map<string, Watched>();

  constructor(material: Generation['material'], nowMs: () => number, log: Log) {
    this.#nowMs = nowMs;
    this.#log = log;
    this.take(material);
  }

  /** Looks at these certificates from now on, by the keys that name their files. */
  take(material: Generation['material']): void {
    const before = this.#watched;
    this.#watched = new Map();
    for (const [key, value] of Object.entries(material)) {
      const cert = certificateIn(value);
      if (cert === undefined) continue;
      const known = before.get(key);
      this.#watched.set(key, known?.cert === cert ? known : { cert, validity: validityOf(cert) });
    }
    this.look();
  }

  /** Looks at them from time to time. They keep no process alive. */
  start(): void {
    setInterval(() => this.look(), LOOK_MS).unref();
  }

  look(): void {
    const nowMs = this.#nowMs();
    for (const [key, watched] of this.#watched) {
      const { cert, validity } = watched;
      const reason = whyNotValid(cert, nowMs);
      if (reason !== undefined)
        this.#say(watched, 'config-invalid', () => {
          this.#log.error({ code: 'config-invalid' }, `${key}: ${reason}: renew it, then send SIGHUP`);
        });
      else if (isEnding(validity, nowMs))
        this.#say(watched, 'certificate-ending', () => {
          const fields = { code: 'certificate-ending', certificateValidTo: new Date(validity.toMs) };
          this.#log.warn(fields, `${key}: ${ERRORS['certificate-ending'].message}`);
        });
    }
  }

  /** Seconds that are left of each certificate, by the key that names its files; below 0 where it has expired. */
  readonly secondsLeft = (): Readonly<Record<string, number>> =>
    Object.fromEntries(
      [...this.#watched].map(([key, { validity }]) => [key, (validity.toMs - this.#nowMs()) / 1000]),
    );

  #say(watched: Watched, code: string, say: () => void): void {
    const { said } = watched;
    const atMs = this.#nowMs();
    // Also where the clock was set back.
    if (said?.code === code && Math.abs(atMs - said.atMs) < SAY_AGAIN_MS) return;
    watched.said = { code, atMs };
    say();
  }
}
