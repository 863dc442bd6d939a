"""``python -m experiments``."""

if __name__ == "__main__":
    from experiments.cli import main

    main()
