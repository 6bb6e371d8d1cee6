import type { Query } from '../../src/platform/kernel/query.ts';

/** An organization whose admins sign in through a provider. */
export interface OrgWithSso {
  readonly id: string;
  readonly slug: string;
  readonly external_base_url: string;
}

const ENABLED = `
  select d.id, d.slug, d.external_base_url
    from org_sso_routing r
    join organization_directory d on d.tenant_id = r.tenant_id and d.id = r.organization_id
   where r.tenant_id = $1`;

/** True if the configuration names a domain that its organization has proved: `only` this one, or any. */
const namesProved = (only = '') => `exists (
       select from org_domains p
        where p.tenant_id = r.tenant_id and p.organization_id = r.organization_id and r.email_domains ? p.domain${only})`;

/**
 * Look-up by e-mail.
 *
 * An organization with proved domains is found by these, for any e-mail, so that the result does not reveal who has an
 * account. Any other organization is found by its admins' accounts: unproved domains route nothing. One statement, the
 * same for every e-mail.
 */
const BY_EMAIL = `${ENABLED}
     and (${namesProved(' and p.domain = $2')} or (r.organization_id = $3 and not ${namesProved()}))
   order by (r.organization_id = $3) desc, d.slug
   limit 1`;

/**
 * Runs in the installation's scope. `account` is the organization in which the e-mail has an account, or any other
 * value.
 */
export const findOrgSsoByEmail: Query<{ domain: string; account: string }, OrgWithSso | null> = async (
  reads,
  { domain, account },
) => (await reads.one<OrgWithSso>(BY_EMAIL, [domain, account])) ?? null;

const BY_SLUG = `${ENABLED} and d.slug = $2`;
/** The host, with its port if any, of the organization's external address. */
const BY_HOST = `${ENABLED} and lower(split_part(split_part(d.external_base_url, '://', 2), '/', 1)) = $2 limit 2`;

/** Runs in the installation's scope. Returns null if several organizations share the host. */
export const findOrgSso: Query<{ slug?: string | undefined; host?: string | undefined }, OrgWithSso | null> = async (
  reads,
  { slug, host },
) => {
  const found =
    slug !== undefined
      ? await reads.rows<OrgWithSso>(BY_SLUG, [slug])
      : await reads.rows<OrgWithSso>(BY_HOST, [host ?? '']);
  return found.length === 1 ? found[0]! : null;
};
