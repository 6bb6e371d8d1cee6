import { describe, expect, it } from 'vitest';
import { recordCanaryCookieTrigger } from '../../../commands/countermeasures/record-canary-cookie-trigger.ts';
import { canaryCookies } from '../../../src/contexts/countermeasures/domain/canary-cookie.resource.ts';
import type { ApplicationEvent } from '../../../src/contexts/families.ts';
import { given, recorded, rowsAfter } from '../../dsl/given.ts';

const cookieId = '33333333-3333-4333-8333-333333333333';
const cause = '55555555-5555-4555-8555-555555555555';
const cookie = {
  name: 'session',
  domain: 'example.com',
  path: '/',
  value: 'ab'.repeat(16),
  isEnabled: true,
  description: '',
};
const planted: ApplicationEvent = { type: 'CanaryCookieCreated', data: { id: cookieId, ...cookie } };
const triggered = (occurredAt: string, by = cause) => ({
  type: 'CanaryCookieTriggered' as const,
  data: { id: cookieId, cause: by, occurredAt },
});

describe('RecordCanaryCookieTrigger', () => {
  it('counts an observation once', () => {
    const trigger = { cause, occurredAt: '2026-06-01T10:00:00.000Z' };
    const input = { cookieId, triggers: [trigger] };
    given(planted).when(recordCanaryCookieTrigger, input).then(triggered(trigger.occurredAt));
    given(planted, triggered(trigger.occurredAt)).when(recordCanaryCookieTrigger, input).thenNothing();
  });

  it('counts all triggers of one report in one append', () => {
    const triggers = [cause, cookieId].map((one) => ({ cause: one, occurredAt: '2026-06-01T10:00:00.000Z' }));
    given(planted, triggered(triggers[0]!.occurredAt))
      .when(recordCanaryCookieTrigger, { cookieId, triggers })
      .then(triggered(triggers[1]!.occurredAt, cookieId));
  });

  it('fails for a cookie that never existed or was deleted', () => {
    const input = { cookieId, triggers: [{ cause, occurredAt: '2026-06-01T10:00:00.000Z' }] };
    given().when(recordCanaryCookieTrigger, input).thenRefused('notFound');
    given(planted, { type: 'CanaryCookieDeleted', data: { id: cookieId } })
      .when(recordCanaryCookieTrigger, input)
      .thenRefused('notFound');
  });

  it('leaves the cookie unchanged, and shows its number of triggers and the time of the last', () => {
    const history = [
      recorded(planted, 1),
      recorded(triggered('2026-06-01T10:00:00.000Z'), 2),
      recorded(triggered('2026-06-01T09:00:00.000Z', cookieId), 3),
    ];
    expect(rowsAfter(canaryCookies.model, history)).toMatchObject([
      {
        value: cookie.value,
        is_enabled: true,
        trigger_count: 2,
        last_triggered_at: '2026-06-01T10:00:00.000Z',
        updated_at: '2026-06-01T12:00:01.000Z',
      },
    ]);
  });
});
