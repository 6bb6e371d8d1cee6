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
  it('says only what changed, and what is set apart in an event of its own', () => {
    given()
      .when(gadgetSettings.update, { changes: { limit: 20, colour: 'blue', owner: null } }, {})
      .then(
        { type: 'GadgetColourChanged', data: { colour: 'blue' } },
        { type: 'GadgetSettingsUpdated', data: { limit: 20 } },
      );
  });

  it('says nothing when everything is as asked, by default or because it was set', () => {
    given()
      .when(gadgetSettings.update, { changes: { limit: 10, colour: 'red' } }, {})
      .thenNothing();
    given(limited)
      .when(gadgetSettings.update, { changes: { limit: 20 } }, {})
      .thenNothing();
  });

  it('goes back to a default by saying so', () => {
    given(limited)
      .when(gadgetSettings.update, { changes: { limit: 10 } }, {})
      .then({ type: 'GadgetSettingsUpdated', data: { limit: 10 } });
  });

  it('asks the rule about the settings as they would be', () => {
    given(blue)
      .when(gadgetSettings.update, { changes: { limit: 51 } }, {})
      .thenRefused('invalid');
    given()
      .when(gadgetSettings.update, { changes: { limit: 51 } }, {})
      .thenTypes('GadgetSettingsUpdated');
  });

  it('keeps a secret for the address that it was entered for alone', () => {
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

  it('answers the settings as they are then, and the secret that nothing refers to any more', () => {
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
  it('is one row a tenant, in which what was never set is null', () => {
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
