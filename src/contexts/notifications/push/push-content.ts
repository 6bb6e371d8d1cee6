import type { Severity } from '../../alerts/domain/vocabulary.ts';
import type { MessageSubject } from '../domain/message.ts';

/**
 * What a push carries through services of others, and shows on a locked screen: ids, a severity and fixed words. No
 * text of an alert, and nothing about a person.
 */
export interface PushContent {
  readonly title: string;
  readonly body: string;
  readonly isUrgent: boolean;
  /** For the app. All values are texts: FCM allows no others. */
  readonly data: Readonly<Record<string, string>>;
  /** Pushes with the same one are shown together. Null: about no alert. */
  readonly alertId: string | null;
}

const OPEN = 'Open Castellan to see it.';

/** Undefined: this kind of message is not pushed. */
export function pushContentOf(subject: MessageSubject): PushContent | undefined {
  switch (subject.kind) {
    case 'alert': {
      const { alertId, severity, change } = subject;
      const title = change === 'created' ? `${capitalized(severity)} alert` : 'An alert was changed';
      const data = { kind: 'alert', alertId, severity, change };
      return { title, body: OPEN, isUrgent: severity === 'critical', data, alertId };
    }
    case 'page': {
      const { alertId, severity, pageId, step } = subject;
      const data = { kind: 'page', alertId, severity, pageId, step: String(step) };
      return {
        title: `Page: ${severity} alert`,
        body: 'You are on call. Open Castellan to acknowledge it.',
        isUrgent: true,
        data,
        alertId,
      };
    }
    case 'digest': {
      const total = Object.values(subject.heldBack).reduce((sum, count) => sum + count, 0);
      const title = `${total} more ${total === 1 ? 'message' : 'messages'} about alerts`;
      return { title, body: 'Open Castellan to see them.', isUrgent: false, data: { kind: 'digest' }, alertId: null };
    }
    case 'test':
      return {
        title: 'Test',
        body: 'Pushes reach this device.',
        isUrgent: false,
        data: { kind: 'test' },
        alertId: null,
      };
    case 'notice': {
      const { notice, alertId } = subject;
      if (notice !== 'page_unanswered' || alertId === null) return undefined;
      return { title: 'Nobody answered a page', body: OPEN, isUrgent: true, data: { kind: notice, alertId }, alertId };
    }
  }
}

const capitalized = (severity: Severity): string => `${severity[0]!.toUpperCase()}${severity.slice(1)}`;
