"""Where rows come from: an array, a memory map, Parquet files or a Dask cluster."""
