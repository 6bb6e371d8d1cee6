import { parse } from 'tldts';
import { emailDomain } from '../../sso/domain/fields.ts';

/**
 * Providers at which anybody gets an e-mail address. None of them is an organization of its users: one that had proved
 * one would be sent the sign-ins of strangers.
 */
const FREE_MAIL: ReadonlySet<string> = new Set(
  `126.com 163.com aol.com bluewin.ch email.com fastmail.com free.fr freenet.de gmail.com gmx.at gmx.ch gmx.com gmx.de
  gmx.net googlemail.com hey.com hotmail.co.uk hotmail.com hotmail.de hotmail.fr hotmail.it hushmail.com icloud.com inbox.ru
  interia.pl kpnmail.nl laposte.net libero.it list.ru live.co.uk live.com live.de live.fr live.nl mac.com mail.com mail.ru
  mailbox.org me.com msn.com naver.com online.de onet.pl orange.fr outlook.com outlook.de outlook.es outlook.fr outlook.it
  pm.me posteo.de proton.me protonmail.ch protonmail.com qq.com rediffmail.com rocketmail.com seznam.cz sfr.fr sina.com
  t-online.de telenet.be tuta.com tutanota.com tutanota.de virgilio.it wanadoo.fr web.de wp.pl yahoo.co.jp yahoo.co.uk
  yahoo.com yahoo.de yahoo.es yahoo.fr yahoo.it yandex.com yandex.ru ymail.com zoho.com`.split(/\s+/),
);

/** Why no organization can own the domain; undefined if one can. Lower case. */
export function sharedDomainReason(domain: string): string | undefined {
  const { domain: site, isIp } = parse(domain, { allowPrivateDomains: true });
  if (site === null && isIp !== true) return 'is a public suffix: everybody may register names below it';
  return FREE_MAIL.has(site ?? domain) ? 'belongs to a provider of e-mail for everybody' : undefined;
}

/** A domain that an organization can prove to be its own. */
export const provableDomain = emailDomain.superRefine((domain, { addIssue }) => {
  const message = sharedDomainReason(domain);
  if (message !== undefined) addIssue({ code: 'custom', message });
});
