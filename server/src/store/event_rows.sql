select o.log, l.machine, o.record_offset, o.ordinal, o.line, o.kind, o.shape, o.body
from observations o
join logs l on l.id = o.log
where o.log > $1
   or (o.log = $1 and (o.record_offset > $2 or (o.record_offset = $2 and o.ordinal > $3)))
order by o.log, o.record_offset, o.ordinal
limit $4
