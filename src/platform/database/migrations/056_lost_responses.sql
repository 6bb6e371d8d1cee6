-- A refresh whose response was an outage's 503: nobody has heard of the token's successor, so whoever comes again is no thief
-- (`src/contexts/identity/refresh-tokens.ts`).
alter table refresh_tokens add column response_lost boolean not null default false;
