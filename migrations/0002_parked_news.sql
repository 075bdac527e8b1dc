-- News that the sink refuses for a reason of its own, taken out of the way of the others until somebody has looked at it.

create table outbox_parked (
  id bigint primary key,
  lcid text collate "C" not null,
  version bigint not null,
  payload jsonb not null,
  created_at timestamptz not null,
  parked_at timestamptz not null default clock_timestamp(),
  reason text not null
);
