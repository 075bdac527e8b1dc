-- What operators did, each action noted before it is carried out: one whose end is missing was interrupted.

create table operator_actions (
  id bigint generated always as identity primary key,
  begun_at timestamptz not null default clock_timestamp(),
  ended_at timestamptz,
  who text not null,
  act text not null,
  target text not null,
  reason text,
  result text check (result in ('done', 'refused', 'failed')),
  detail text,
  constraint operator_actions_end_has_result check ((ended_at is null) = (result is null))
);

-- For the delay of the latest decisions. Rows are appended in nearly the order of seq, so a block-range index finds the newest and
-- costs the writers next to nothing. Building it keeps them out while the table is read once, so a large one is left to
-- `create index concurrently`; without it nothing is known of the delay, and nothing else is missing.
do $$
begin
  if pg_relation_size('order_events') < 256 * 1024 * 1024 then
    create index if not exists order_events_by_seq on order_events using brin (seq) with (pages_per_range = 32);
  end if;
end
$$;
