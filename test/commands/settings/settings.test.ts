import { describe, expect, it } from 'vitest';
import { setAlertSeverities } from '../../../commands/settings/set-alert-severities.ts';
import { setMobileAccessByRole } from '../../../commands/settings/set-mobile-access-by-role.ts';
import { alertSeverities } from '../../../projections/settings/alert-severities.ts';
import { defaultSeverities } from '../../../src/contexts/alerts/domain/vocabulary.ts';
import { retentionUnder } from '../../../src/contexts/settings/domain/retention.ts';
import { tenantSettings } from '../../../src/contexts/settings/domain/tenant-settings.resource.ts';
import type { ApplicationEvent } from '../../../src/contexts/families.ts';
import { given, recorded, rowsAfter } from '../../dsl/given.ts';

describe('SetAlertSeverities', () => {
  const set: ApplicationEvent = { type: 'AlertSeveritiesSet', data: { severities: { weak_password: 'high' } } };

  it('records which types changed, and returns the severity of all', () => {
    const outcome = given(set).when(setAlertSeverities, {
      severities: { weak_password: 'high', device_stale: 'medium' },
    });
    outcome.then({ type: 'AlertSeveritiesSet', data: { severities: { device_stale: 'medium' } } });
    expect(outcome.result().severities).toEqual({
      ...defaultSeverities,
      weak_password: 'high',
      device_stale: 'medium',
    });
  });

  it('records nothing if every type has that severity already, also by default', () => {
    given(set)
      .when(setAlertSeverities, { severities: { weak_password: 'high', phishing_detected: 'critical' } })
      .thenNothing();
    given().when(setAlertSeverities, { severities: {} }).thenNothing();
  });

  it('folds to one row per tenant', () => {
    const second: ApplicationEvent = {
      type: 'AlertSeveritiesSet',
      data: { severities: { device_stale: 'medium', weak_password: 'critical' } },
    };
    expect(rowsAfter(alertSeverities, [recorded(set, 1), recorded(second, 2)])).toMatchObject([
      { severities: { weak_password: 'critical', device_stale: 'medium' } },
    ]);
  });
});

describe('SetMobileAccessByRole', () => {
  it('merges, records the changes, and returns the whole map', () => {
    const outcome = given().when(setMobileAccessByRole, {
      reauthenticated: true,
      mobileAccess: { analyst: false, admin: true },
    });
    outcome.then({ type: 'MobileAccessByRoleSet', data: { mobileAccess: { analyst: false } } });
    expect(outcome.result()).toEqual({
      mobileAccess: { super_admin: true, admin: true, analyst: false, executive: false },
    });
  });

  it('records nothing if nothing changes, and returns the current map', () => {
    const outcome = given({ type: 'MobileAccessByRoleSet', data: { mobileAccess: { executive: true } } }).when(
      setMobileAccessByRole,
      { mobileAccess: { executive: true } },
    );
    outcome.thenNothing();
    expect(outcome.result().mobileAccess.executive).toBe(true);
  });
});

describe('UpdateTenantSettings', () => {
  it('has a separate event for the extension mode', () => {
    given()
      .when(tenantSettings.update, { changes: { extensionMode: 'block', learningThreshold: 7 } }, {})
      .then(
        { type: 'ExtensionModeChanged', data: { extensionMode: 'block' } },
        { type: 'TenantSettingsUpdated', data: { learningThreshold: 7 } },
      );
    given({ type: 'ExtensionModeChanged', data: { extensionMode: 'block' } })
      .when(tenantSettings.update, { changes: { extensionMode: 'block' } }, {})
      .thenNothing();
  });
});

describe('retention', () => {
  const license = { maxEventRetentionDays: 30, maxStreamRetentionDays: 700, issuedAt: '2026-01-01T00:00:00.000Z' };

  it("follows the operator's setting, limited by the license", () => {
    expect(retentionUnder(license as never, { eventRetentionDays: 90, streamRetentionDays: 365 })).toEqual({
      eventRetentionDays: 30,
      streamRetentionDays: 365,
      maxEventRetentionDays: 30,
      maxStreamRetentionDays: 700,
      updatedAt: '2026-01-01T00:00:00.000Z',
    });
  });
});
