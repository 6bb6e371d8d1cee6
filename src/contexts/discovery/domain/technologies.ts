/** The category of a technology, by a word in its name. */
const CATEGORIES: readonly (readonly [RegExp, string])[] = [
  [/nginx|apache|iis\b|caddy|litespeed|tomcat|envoy|openresty/i, 'web-server'],
  [/wordpress|drupal|joomla|typo3|sharepoint|confluence|ghost|contentful/i, 'cms'],
  [/react|vue|angular|svelte|next\.?js|nuxt|jquery|ember|backbone/i, 'javascript-framework'],
  [/rails|django|laravel|spring|express|asp\.net|flask|symfony/i, 'web-framework'],
  [/cloudflare|akamai|fastly|cloudfront|imperva/i, 'cdn'],
  [/analytics|matomo|hotjar|segment|tag manager|plausible/i, 'analytics'],
  [/shopify|magento|woocommerce|stripe|paypal/i, 'commerce'],
  [/\bphp\b|python|ruby|java\b|node\.?js|perl/i, 'language'],
  [/okta|auth0|keycloak|recaptcha|hcaptcha|turnstile/i, 'security'],
];
export const categoryOf = (name: string): string => CATEGORIES.find(([pattern]) => pattern.test(name))?.[1] ?? 'other';
