import { randomBytes } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';

/** Only the service's own account may read its state: keys and secrets are among it. */
const PRIVATE_MODE = 0o600;

/** Writes a file so that a reader finds the old content or the new one, never a part; mode 0600. Throws on I/O errors. */
export async function writeAtomically(path: string, content: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    const file = await open(temporary, 'wx', PRIVATE_MODE);
    try {
      await file.writeFile(content);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
}
