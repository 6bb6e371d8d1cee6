-- When each generation of the key that signs access tokens was first at work: the one before it is believed for one token's life longer,
-- and then never again, however often a process starts.
create table token_key_generations (
  generation    integer     primary key,
  first_used_at timestamptz not null default now()
);
-- For the owner alone: no role is granted anything, and none is shown a row.
alter table token_key_generations enable row level security;
