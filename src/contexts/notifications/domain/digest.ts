import { v5 } from 'uuid';
import type { MessageSubject } from './message.ts';
import { MESSAGE_WINDOW_MS, type MessageWindow } from './message-limit.ts';

/** UUIDv5 namespace (RFC 9562 §5.5): one digest for each window of a recipient. */
const DIGESTS = 'b7c0a5d2-41f8-4d0e-9a37-6e5b1f20c8d3';

/** One message about everything that a window held back. */
export function digestOf(
  { endsAt, held, alertIds }: MessageWindow,
  recipientId: string,
): { readonly cause: string; readonly subject: MessageSubject } {
  const to = new Date(endsAt).toISOString();
  const from = new Date(endsAt - MESSAGE_WINDOW_MS).toISOString();
  return {
    cause: v5(`${recipientId}|${to}`, DIGESTS),
    subject: { kind: 'digest', from, to, heldBack: held, alertIds: [...alertIds] },
  };
}
