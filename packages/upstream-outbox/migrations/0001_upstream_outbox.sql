-- The outbox of a producer of events, in the producer's own database. Needs Postgres 14 and a database in UTF-8.
-- A row is written in the transaction that makes it true, and carried to the queues by a forwarder after the commit.

create schema if not exists junban_upstream;

create table junban_upstream.events (
  -- Not the order of commits over all rows; within one lcid it is, because enqueue_event lets its writers in one by one.
  id bigint generated always as identity primary key,
  lcid text collate "C" not null,
  event jsonb not null,
  enqueued_at timestamptz not null default clock_timestamp(),
  forwarded_at timestamptz,
  -- Set when the event can never be published; it stays for people to see, and others pass it.
  parked_at timestamptz,
  parked_code text,
  parked_reason text,
  constraint events_end_one_way check (forwarded_at is null or parked_at is null),
  -- What a forwarder can be made to hold at once, whoever wrote the rows.
  constraint events_are_bounded check (octet_length(event::text) <= 131072)
)
-- Each row soon leaves the index of those that wait, and every look walks over what it left there until a vacuum clears it.
with (autovacuum_vacuum_scale_factor = 0.01, autovacuum_vacuum_threshold = 1000, vacuum_index_cleanup = on);

create index events_waiting on junban_upstream.events (id) where forwarded_at is null and parked_at is null;
create index events_parked on junban_upstream.events (id) where parked_at is not null;
create index events_forwarded on junban_upstream.events (forwarded_at) where forwarded_at is not null;

create function junban_upstream.is_name(value jsonb) returns boolean
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(
    jsonb_typeof(value) = 'string'
      and char_length(value #>> '{}') between 1 and 256
      and (value #>> '{}') !~ '[\u0001-\u001f\u007f-\u009f]',
    false
  )
$$;

-- Writes an event into the outbox as part of the caller's transaction, and answers with the number of its row. What has no
-- usable identity is refused with SQLSTATE 22023, and nothing is written. Runs with the rights of its owner, so that whoever
-- may call it needs none on the table.
create function junban_upstream.enqueue_event(event jsonb) returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  broken text;
  order_name text := event ->> 'lcid';
  row_id bigint;
begin
  broken := case
    when event is null or jsonb_typeof(event) <> 'object' then 'event: a JSON object'
    when (event -> 'specversion') is distinct from '"1.0"'::jsonb then 'specversion: the string "1.0"'
    when not junban_upstream.is_name(event -> 'id') then 'id: a string of 1 to 256 characters without control characters'
    when not junban_upstream.is_name(event -> 'source') then 'source: a string of 1 to 256 characters without control characters'
    when not junban_upstream.is_name(event -> 'type') then 'type: a string of 1 to 256 characters without control characters'
    when coalesce(jsonb_typeof(event -> 'lcid') <> 'string' or order_name !~ '^[0-9A-Za-z._:@/+=~-]{1,128}$', true)
      then 'lcid: 1 to 128 characters of 0-9 A-Z a-z . _ : @ / + = ~ -'
    -- An outer bound: jsonb spells events longer than they travel. The exact one is the publisher's.
    when octet_length(event::text) > 131072 then 'event: at most 65536 bytes as JSON'
  end;
  if broken is not null then
    raise exception 'this is no event: %', broken using errcode = 'invalid_parameter_value';
  end if;
  -- Held until the transaction ends. Without it, two transactions could number their rows in one order and commit in the
  -- other, and nobody who reads in between could know that a lower number was still to come.
  perform pg_advisory_xact_lock(hashtextextended(order_name, 5577006791947779410));
  insert into junban_upstream.events (lcid, event) values (order_name, event) returning id into row_id;
  -- Told at the commit, once a transaction. A hint: the forwarder looks without it, too.
  perform pg_notify('junban_upstream', '');
  return row_id;
end
$$;
