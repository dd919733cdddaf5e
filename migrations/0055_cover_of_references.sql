-- The parts of a searched text that cover it, counted from its end, as `reference_parts` makes them. A search reads the list
-- of each part that it asks for: a third of them find the same payments, but for a few that the text itself rules out.
create function reference_cover(merchant_id text, part text) returns bigint[]
  language plpgsql immutable strict parallel safe as $$
declare
  parts bigint[] := '{}';
  place int := length(part) - 2;
begin
  if place < 1 then
    return parts;
  end if;
  while place > -2 loop
    parts := parts || hashtextextended(merchant_id || substr(part, greatest(place, 1), 3), 0);
    place := place - 3;
  end loop;
  return parts;
end
$$;
