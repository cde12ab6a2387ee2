-- The limits of calls, counted by all machines together. What a state means is known to the program alone: here a state
-- is a text with a version, and whoever has not read the newest version reads again.

-- Emptied by a crash of the server. Then nobody knows which calls are under way, and quota_since says since when.
create unlogged table quota (key text primary key, version bigint not null, state text not null) with (fillfactor = 50);
create unlogged table quota_since (only_row boolean primary key default true check (only_row), at timestamptz not null);
insert into quota_since (at) values ('-infinity');

-- A program that takes its permits here. One that was lost counts by itself, so its machine's share is kept for it.
create table permit_session (
    account text not null references account,
    person text not null,
    machine text not null,
    session text not null,
    egress text not null,
    seen_at timestamptz not null,
    primary key (account, person, machine, session)
) with (fillfactor = 50);

-- The first three functions are called by the others alone, which have set the search path.

-- What the machines may use together, as shares of the limits of an account and of an address.
create function shares_left(p_account text, p_egress text, out share double precision,
    out address_share double precision)
    language plpgsql
as $$
declare
    lost_before timestamptz := clock_timestamp() - interval '3 s';
    lost_after timestamptz := clock_timestamp() - interval '1 h';
begin
    share := (select least(1, sum(coalesce(m.share, 0.25))) from machine m where m.account = p_account);
    address_share := 1;
    -- Hardly ever is one lost. To look for any first halves the time that this takes at each call.
    if exists (select from permit_session s where s.seen_at between lost_after and lost_before) then
        share := share - (select coalesce(sum(coalesce(m.share, 0.25)), 0) from machine m
            where m.account = p_account and exists (select from permit_session s where s.account = m.account
                and s.person = m.person and s.machine = m.name and s.seen_at between lost_after and lost_before));
        address_share := 1 - (select coalesce(sum(lost.share), 0) from (
            select max(coalesce(m.share, 0.25)) as share from permit_session s
                join machine m on m.account = s.account and m.person = s.person and m.name = s.machine
                where s.egress = p_egress and s.seen_at between lost_after and lost_before
                group by s.person, s.machine) lost);
    end if;
end $$;

create function check_quota_keys(p_account text, p_egress text, p_keys text[]) returns void language plpgsql
as $$
declare
    foreign_key text := (select key from unnest(p_keys) key
        where not starts_with(key, p_account || '|') and not starts_with(key, 'ip:' || p_egress || ':') limit 1);
begin
    if foreign_key is not null then
        perform refuse('TT003', format('the limit %s is of another account or address', foreign_key));
    end if;
end $$;

-- One row a key, also of keys that have no state yet; the first columns are the same in each.
create function quota_rows(p_account text, p_machine text, p_share double precision, p_address_share double precision,
    p_keys text[], p_is_written boolean,
    out is_written boolean, out now_epoch_s double precision, out since_epoch_s double precision,
    out share double precision, out address_share double precision, out lost text[], out key text, out version bigint,
    out state text)
    returns setof record language plpgsql
as $$
begin
    if not exists (select from quota_since) then
        insert into quota_since (at) values (clock_timestamp()) on conflict do nothing;
    end if;
    return query
        select p_is_written, extract(epoch from clock_timestamp())::double precision,
            (select extract(epoch from at)::double precision from quota_since), p_share, p_address_share,
            array(select s.session from permit_session s where s.account = p_account and s.person = session_user
                and s.machine = p_machine
                    and s.seen_at between clock_timestamp() - interval '1 h' and clock_timestamp() - interval '3 s'),
            k.name, coalesce(q.version, 0), case when not p_is_written then q.state end
        from unnest(p_keys || null::text) k(name) left join quota q on q.key = k.name;
end $$;

create function read_quotas(p_schema int, p_account text, p_machine text, p_egress text, p_keys text[],
    out is_written boolean, out now_epoch_s double precision, out since_epoch_s double precision,
    out share double precision, out address_share double precision, out lost text[], out key text, out version bigint,
    out state text)
    returns setof record language plpgsql security definer set search_path = tradetui, pg_temp
as $$
declare
    shares record := shares_left(p_account, p_egress);
begin
    perform set_config('synchronous_commit', 'off', true);
    perform admit(p_schema, p_account, p_machine, false);
    perform check_quota_keys(p_account, p_egress, p_keys);
    return query select * from quota_rows(p_account, p_machine, shares.share, shares.address_share, p_keys, false);
end $$;

-- Write all of the states, or none if anybody has written one of them since, if the shares have changed, or if the call
-- was sent so long ago that its sender has given it up. What is lost in a crash was counted by nobody else either, so
-- no commit waits for the disk.
create function write_quotas(p_schema int, p_account text, p_machine text, p_egress text, p_session text,
    p_sent_epoch_s double precision, p_share double precision, p_address_share double precision,
    p_keys text[], p_versions bigint[], p_states text[],
    out is_written boolean, out now_epoch_s double precision, out since_epoch_s double precision,
    out share double precision, out address_share double precision, out lost text[], out key text, out version bigint,
    out state text)
    returns setof record language plpgsql security definer set search_path = tradetui, pg_temp
as $$
declare
    is_current boolean;
    shares record;
begin
    perform set_config('synchronous_commit', 'off', true);
    perform check_schema(p_schema);
    perform check_quota_keys(p_account, p_egress, p_keys);
    shares := shares_left(p_account, p_egress);
    is_current := (shares.share, shares.address_share) is not distinct from (p_share, p_address_share)
        and extract(epoch from clock_timestamp()) - p_sent_epoch_s < 1.5;
    if is_current then
        insert into quota select k, 0, '' from unnest(p_keys) k order by k on conflict do nothing;
        is_current := cardinality(p_keys) = (select count(*) from (
            select from quota q join unnest(p_keys, p_versions) k(name, version) on k.name = q.key and k.version = q.version
                order by q.key for update of q) current);
    end if;
    if is_current then
        update quota q set version = q.version + 1, state = k.state
            from unnest(p_keys, p_states) k(name, state) where k.name = q.key and k.state <> q.state;
        -- Marked at most twice a second, so that a call seldom writes this row too.
        if not exists (select from permit_session s where s.account = p_account and s.person = session_user
            and s.machine = p_machine and s.session = p_session and s.egress = p_egress
            and age_s(s.seen_at) between 0 and 0.5) then
            perform admit(p_schema, p_account, p_machine, false);
            -- A sender without an answer counts the time until it calls alone from when it sent this.
            insert into permit_session values (p_account, session_user, p_machine, p_session, p_egress,
                    least(clock_timestamp(), to_timestamp(p_sent_epoch_s)))
                on conflict (account, person, machine, session)
                do update set egress = excluded.egress, seen_at = excluded.seen_at;
            shares := shares_left(p_account, p_egress);
        end if;
    end if;
    return query select * from quota_rows(p_account, p_machine, shares.share, shares.address_share, p_keys, is_current);
end $$;

-- A program that has ended counts nothing by itself any more.
create function end_permit_session(p_schema int, p_account text, p_machine text, p_session text) returns void
    language plpgsql security definer set search_path = tradetui, pg_temp
as $$
begin
    perform set_config('synchronous_commit', 'off', true);
    perform check_schema(p_schema);
    delete from permit_session where account = p_account and person = session_user and machine = p_machine
        and session = p_session;
end $$;

grant execute on function read_quotas, write_quotas, end_permit_session to tradetui_viewer;
