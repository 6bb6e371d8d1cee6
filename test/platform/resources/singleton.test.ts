import { describe, expect, it } from 'vitest';
import type { EventOf } from '../../../src/platform/kernel/event.ts';
import { rowsAfter, TENANT } from '../../dsl/given.ts';
import { given, recorded } from './gadget-histories.ts';
import { gadgetSettings } from './gadget.resource.ts';

type GadgetSettingsEvent = EventOf<typeof gadgetSettings.events>;
const reference = '44444444-4444-4444-8444-444444444444';
const limited: GadgetSettingsEvent = { type: 'GadgetSettingsUpdated', data: { limit: 20 } };
const blue: GadgetSettingsEvent = { type: 'GadgetColourChanged', data: { colour: 'blue' } };

describe('changing declared settings', () => {
  it('records only the changes, and separate fields in an event of their own', () => {
    given()
      .when(gadgetSettings.update, { changes: { limit: 20, colour: 'blue', owner: null } }, {})
      .then(
        { type: 'GadgetColourChanged', data: { colour: 'blue' } },
        { type: 'GadgetSettingsUpdated', data: { limit: 20 } },
      );
  });

  it('records nothing if every value is as requested, by default or because it was set', () => {
    given()
      .when(gadgetSettings.update, { changes: { limit: 10, colour: 'red' } }, {})
      .thenNothing();
    given(limited)
      .when(gadgetSettings.update, { changes: { limit: 20 } }, {})
      .thenNothing();
  });

  it('resets a field to its default explicitly', () => {
    given(limited)
      .when(gadgetSettings.update, { changes: { limit: 10 } }, {})
      .then({ type: 'GadgetSettingsUpdated', data: { limit: 10 } });
  });

  it('applies the rule to the resulting settings', () => {
    given(blue)
      .when(gadgetSettings.update, { changes: { limit: 51 } }, {})
      .thenRefused('invalid');
    given()
      .when(gadgetSettings.update, { changes: { limit: 51 } }, {})
      .thenTypes('GadgetSettingsUpdated');
  });

  it('sends a secret only to the address that it was entered for', () => {
    const kept: GadgetSettingsEvent = { type: 'GadgetSettingsUpdated', data: { passwordRef: reference } };
    const server = 'https://elsewhere.example';
    given(kept)
      .when(gadgetSettings.update, { changes: { server } }, {})
      .thenRefused('invalid', 'validation failed: password: is required where server changes; null removes it');
    given(kept)
      .when(gadgetSettings.update, { changes: { server, password: null } }, { passwordRef: null })
      .then({ type: 'GadgetSettingsUpdated', data: { server, passwordRef: null } });
    given(kept)
      .when(gadgetSettings.update, { changes: { limit: 20 } }, {})
      .then({ type: 'GadgetSettingsUpdated', data: { limit: 20 } });
    given()
      .when(gadgetSettings.update, { changes: { server } }, {})
      .then({ type: 'GadgetSettingsUpdated', data: { server } });
  });

  it('returns the resulting settings, and the secret that is no longer used', () => {
    const history: GadgetSettingsEvent[] = [blue, { type: 'GadgetSettingsUpdated', data: { passwordRef: reference } }];
    const outcome = given(...history).when(
      gadgetSettings.update,
      { changes: { password: null } },
      { passwordRef: null },
    );
    outcome.then({ type: 'GadgetSettingsUpdated', data: { passwordRef: null } });
    expect(outcome.result()).toEqual({
      id: TENANT,
      values: { limit: 10, colour: 'blue', owner: null, server: 'https://gadgets.example', passwordRef: null },
    });
    outcome.thenForgets(reference);
  });
});

describe('the read model of settings', () => {
  it('is one row per tenant, in which unset fields are null', () => {
    expect(rowsAfter(gadgetSettings.model, [recorded(blue, 1), recorded(limited, 2)])).toEqual([
      {
        tenant_id: TENANT,
        id: TENANT,
        limit: 20,
        colour: 'blue',
        owner: null,
        server: null,
        password_ref: null,
        updated_by: '22222222-2222-4222-8222-222222222222',
        updated_at: '2026-06-01T12:00:02.000Z',
      },
    ]);
  });
});
