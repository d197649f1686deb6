"""The help of the line magics, apart from what they do, which is imported when one is used."""

SHARDING = """Show which device holds which slice of an array.

    %sharding x                      a jax.Array, or a pytree of them
    %sharding x.sharding, (16, 32)   a sharding, and the shape of an array that has it"""

TIMELINE = """Show the timeline of a saved profile.

    %timeline FILE              an .xplane.pb, or a Chrome or Perfetto trace (.json, .json.gz) of JAX or PyTorch, or the
                                .npz that Timeline.to_npz writes of what a Mosaic GPU kernel recorded
    %timeline FOLDER            what a profiler wrote: the newest run in it
    %timeline FILE --with ins   against an Inspection: events are linked to its source lines and documents
    %timeline BEFORE AFTER      two profiles, and what grew and what shrank
    t = %timeline FILE          the Timeline: t.by_line(), t.gaps(), t.to_chrome("t.json"), ...

A variable may stand for a file: its value is a profiled Inspection, a Timeline, a path, or the bytes of a profile.
Quote paths that hold spaces."""

INSPECT = """Open a file or a folder of JAX's, XLA's or a profiler's. No function is needed, and none is run.

    %inspect FOLDER               what XLA dumped (--xla_dump_to): its modules
    %inspect FOLDER MODULE        one of them, by its name or number: HLO, passes, buffers, machine code, if dumped
    %inspect FOLDER MODULE -t v5e:2x2    what it was before the passes, compiled for a target
    %inspect FILE                 HLO (.hlo.pb or text), StableHLO (text or bytecode), a saved inspection
                                  (.json), a profile (.xplane.pb, .json), a serialised jax.export, which a
                                  worker compiles
    %inspect FILE MODULE          one of several modules, or functions, in a file, by its number or name
    %inspect FILE -t v5e:2x2      StableHLO, or HLO before the passes, compiled for a target in a worker; -t may be
                                  repeated
    %inspect FILE --dim b=8       the size of a symbolic axis of a jax.export
    ins = %inspect FILE           the Inspection: ins.cost, ins.memory, ins.passes, ...

Lines of source are shown where the files that the module names are here. Quote paths that hold spaces."""

DISPATCH = """Show what a call does before the program runs; the call is compiled, not run.

    %dispatch step(params, batch)    each argument: used as it is, copied from the host or between devices, with bytes;
                                     and whether calls after the first stay in C++, or why Python takes part
    %dispatch --static-argnums 1 f(x, 3)

It takes the options of %compile for this kernel's own device. In Python: `ins.dispatch`."""

DIMENSIONS = """\
Show the named dimensions of a call, such as batch, heads and vocab, and what splitting each alone over devices costs.
Nothing is compiled and no mesh is needed.

    %dimensions step(params, opt, batch)            size, arguments and their axes, collectives of splitting it alone
    %dimensions step(params, opt, batch) -t v5e:2x4     over the eight chips of a target
    %dimensions step(params, opt, batch) --name d3=hidden    with your name for a dimension
    d = %dimensions step(params, opt, batch)        d.table, d.argument_table, d.collectives, d.meetings, d["batch"]

A dimension is all axes of all arrays that must be split alike, by the rules of Shardy, XLA's partitioner: parameters
and their moments, and the layers of equal paths but for numbers. It is named by the letter that your einsum equations
give it, else by the layer that makes it, the batch, or the argument and its axis; d1, d2, ... name them too. In Python:
`ins.dimensions`."""

COMPILE_CACHE = """\
Show JAX's persistent compilation cache: the folder that is really in use, and what it did for this kernel.

    %compile_cache              the folder, its entries and limits, hits, why misses missed, what was not written
    %compile_cache --verify     read every entry and compare it with the checksum taken when it was written
    %compile_cache --set-aside  rename the damaged entries (to NAME-cache.damaged), so that JAX writes them again
    c = %compile_cache          the report: c.table(), c.to_pandas(), c.state, c.tally

The cache is JAX's: `jax.config.update("jax_compilation_cache_dir", FOLDER)` sets its folder. JAXStage records what each
key was made of, and the checksum of each entry, in a folder of its own, so that a miss can be explained and a damaged
entry is reported before JAX reads it: `%config JAXStage.damaged_cache_entries = "set aside"` renames it at once. An
entry is never loaded to test it. Of entries written without JAXStage only name, size and date are known."""

FINDINGS = """\
Show what costs this notebook the most: the findings of all its inspections, and recompiles that can be avoided.

    %findings              what takes milliseconds
    %findings --all        compile for the kinds that take a compile too
    %findings ins other    of these inspections alone
    f = %findings          the findings: f[0].finding, f[0].finding.try_(), f.table

The inspections are those that panels show and that variables hold. The largest share of its whole comes first: of the
lower bound of a program, of its memory, of all compile time. In Python: `ins.findings` of one inspection."""

PROCESSES = """\
Start a job of several JAX processes on this machine, or use the engines of an ipyparallel client.

    %processes start 2              two processes with one CPU device each, over loopback
    %processes start 2 --devices 4  with four each; --timeout 120 gives them 120 seconds to start
    %processes use rc               the engines of an ipyparallel.Client, also on other machines; JAX joins them
    %processes                      who they are, what each does, and the last program that they shared
    %processes where                where each process is: the source line, and the program of several processes
    %processes guard on             compare each program of several processes before it runs next; off ends it
    %processes end 1                kill process 1: the others get an error instead of waiting for it
    %processes restart              end those that were started here, and start as many
    %processes stop                 end those that were started here; engines of a client stay

    %%px                            run a cell in each process (ipyparallel's own magic)

The notebook's kernel takes no part in the job, and survives it. It needs ipyparallel: pip install
'jaxstage-ext[processes]'. The processes end when the kernel does. Stopping kills them. Those that
are started here have PYTHONHASHSEED=0, so sets have one order in all of them: whether yours differ, only processes of
your own show.

Of the processes of one host that agree, one compiles and the others read what it made; %%compile --processes says
which, with the seconds of that compile. Executables of several processes are shared on CPUs, in a folder of the job
that only you can write to and that goes with it. What compile workers give is in the folder of the inspection cache,
%config JAXStage.cache_dir, or in the job's where you set none."""

FINDINGS_OPTIONS = ("--all",)
TIMELINE_OPTIONS = ("--with",)
COMPILE_CACHE_OPTIONS = ("--verify", "--set-aside")
PROCESSES_COMMANDS = ("start", "use", "status", "where", "guard", "end", "restart", "stop")
PROCESSES_OPTIONS, PROCESSES_WITH_OPTIONS = ("--devices", "--timeout"), ("start", "restart")
