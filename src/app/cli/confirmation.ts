import { createInterface } from 'node:readline/promises';
import { UsageError } from './outcome.ts';
import { isInteractive, type Terminal } from './terminal.ts';

/**
 * Asks a person before something that cannot be undone. Without a terminal nobody can be asked: the command is refused.
 * Throws `UsageError` unless the answer is yes.
 */
export async function confirm(terminal: Terminal, question: string): Promise<void> {
  if (!isInteractive(terminal))
    throw new UsageError(`${question} Nothing was changed: add --yes to do it, as there is no terminal to ask on`);
  const asked = createInterface({ input: terminal.stdin, output: terminal.stderr });
  // End of input (Ctrl-D) and Ctrl-C are no consent either.
  const closed = new Promise<string>((resolve) => void asked.once('close', () => resolve('')));
  try {
    const answer = await Promise.race([asked.question(`${question} Type yes to go on: `), closed]);
    if (!/^y(es)?$/i.test(answer.trim())) throw new UsageError('Nothing was changed');
  } finally {
    asked.close();
  }
}
